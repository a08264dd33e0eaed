//! [`SnapshotWriter`]: when the next snapshot of a run is due, and who writes it.
//!
//! It is not asked by a timer: a snapshot is due with a commit, which brings the records that it
//! stands for to the disk.
//!
//! **Invariant:** a snapshot that can't be written costs a warning and nothing else.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::snapshot::Snapshot;
use crate::disk::Disk;

/// How old the newest snapshot may be while there are newer records.
const AGE_MAX: Duration = Duration::from_secs(5 * 60);

/// Writes the snapshots of one log.
#[derive(Debug)]
pub(crate) struct SnapshotWriter {
    disk: Arc<dyn Disk>,
    log: PathBuf,
    /// After how many records one is due.
    every: u64,
    /// How many records the newest one stands for.
    records: u64,
    /// When it was written, or the epoch began, on the monotonic clock.
    since: Duration,
    warned: bool,
}

impl SnapshotWriter {
    /// Goes on behind a snapshot that stands for so many records, 0 where there is none.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        log: PathBuf,
        every: u64,
        records: u64,
        now: Duration,
    ) -> Self {
        let disk = Arc::clone(disk);
        Self { disk, log, every: every.max(1), records, since: now, warned: false }
    }

    /// Whether a snapshot is due when the log has so many records.
    #[must_use]
    pub(crate) fn is_due(&self, records: u64, now: Duration) -> bool {
        let new = records.saturating_sub(self.records);
        new >= self.every || (new > 0 && now.saturating_sub(self.since) >= AGE_MAX)
    }

    /// Writes a snapshot; when that fails for the first time, says what a person should know. The
    /// next one is due as if it had been written.
    ///
    /// # Durability
    /// Afterwards the new one, or the one before, survives a power cut, or none does.
    pub(crate) fn write(&mut self, snapshot: &Snapshot, now: Duration) -> Option<String> {
        (self.records, self.since) = (snapshot.chain.records, now);
        let error = snapshot.write(&*self.disk, &self.log).err()?;
        let is_first = !std::mem::replace(&mut self.warned, true);
        is_first.then(|| {
            let path = Snapshot::path(&self.log);
            format!(
                "the snapshot `{}` can't be written ({error}); the run goes on, but a resume may \
                 have to read the whole log",
                path.display()
            )
        })
    }
}
