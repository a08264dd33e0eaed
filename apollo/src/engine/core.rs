//! [`Core`]: where an epoch stands, and [`Commit`], what is taken from it to be written.
//!
//! It is not the engine: nothing here decides, executes or writes. It is what the workers share
//! under one mutex.
//!
//! **Invariant:** `state` is the fold of all records of `log`, those included that wait for a
//! commit; who takes a commit has taken all that wait.

use std::collections::VecDeque;
use std::time::Duration;

use super::EngineError;
use crate::executor::attempt::Start;
use crate::log::{Batch, LogFile, LogWriter, Snapshot, SnapshotWriter};
use crate::record::Record;
use crate::replay::RunState;
use crate::scheduler::Scheduler;

/// How long a record of durability `batch` may wait for its sync.
pub(super) const BATCH_SYNC: Duration = Duration::from_millis(50);

/// Where the epoch stands.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) state: RunState,
    pub(super) scheduler: Scheduler,
    pub(super) log: LogWriter,
    /// The log's file; whoever leads a commit has it.
    pub(super) file: Option<LogFile>,
    /// Whoever writes a snapshot has it.
    pub(super) snapshots: Option<SnapshotWriter>,
    /// Records in the pending batch, for the observer.
    pub(super) told_next: Vec<Record>,
    /// Attempts whose STEP_START is in the pending batch.
    pub(super) starting: Vec<Start>,
    /// Attempts whose STEP_START is committed.
    pub(super) runnable: VecDeque<Start>,
    /// When a retry is due, on the monotonic clock.
    pub(super) wake_at: Option<Duration>,
    /// Since when a written record waits for its sync.
    pub(super) unsynced_since: Option<Duration>,
    /// The closing record is in a batch.
    pub(super) closing: bool,
    /// The closing record is committed, or the epoch failed.
    pub(super) over: bool,
    pub(super) failure: Option<EngineError>,
}

/// What one commit writes.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) batch: Batch,
    /// A record that was written before has waited long enough for its sync, or a snapshot is due.
    pub(super) force_sync: bool,
    /// What the log's records add up to with these, where a snapshot is due.
    pub(super) snapshot: Option<Snapshot>,
    /// How many lines have to find room afterwards.
    pub(super) open_attempts: u32,
    /// The records of the batch, where an observer wants them.
    pub(super) told: Vec<Record>,
    /// The attempts whose STEP_START is in the batch.
    pub(super) started: Vec<Start>,
    /// Whether the closing record is in the batch.
    pub(super) closes: bool,
}

impl Core {
    /// Takes what waits for a commit; `None` when nothing does.
    pub(super) fn next_commit(&mut self, now: Duration) -> Option<Commit> {
        let sync_is_due = self.sync_is_due(now);
        if self.over || !(self.log.has_pending() || sync_is_due) {
            return None;
        }
        let snapshot = self.snapshot(now);
        Some(Commit {
            batch: self.log.take(),
            force_sync: sync_is_due || snapshot.is_some(),
            snapshot,
            open_attempts: self.scheduler.running(),
            told: std::mem::take(&mut self.told_next),
            started: std::mem::take(&mut self.starting),
            closes: self.closing,
        })
    }

    /// The fold of all records, where it is due: they are synced with the commit that comes next.
    fn snapshot(&self, now: Duration) -> Option<Snapshot> {
        let chain = self.log.chain();
        let is_due = self.snapshots.as_ref().is_some_and(|it| it.is_due(chain.records, now));
        is_due.then(|| Snapshot::new(chain.clone(), self.state.clone()))
    }

    /// Whether something is due at a certain time.
    pub(super) const fn is_timed(&self) -> bool {
        self.wake_at.is_some() || self.unsynced_since.is_some()
    }

    fn sync_is_due(&self, now: Duration) -> bool {
        self.unsynced_since.is_some_and(|since| since + BATCH_SYNC <= now)
    }
}
