//! [`Mortal`]: a process that dies at one of its operations, played inside another process.
//!
//! It is not a power cut: what was done before the death is all on the disk.
//!
//! **Invariant:** who asks for an operation after the death does not come back from it: the
//! thread unwinds, so that a body that was running is over at that place.

use std::collections::BTreeSet;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::point::KillPoint;
use crate::disk::{Course, Disk as _, Hook, Op, Open, Operation, RealDisk};
use crate::id::StepId;
use crate::observer::{Notice, Observer};
use crate::record::{Event, Record};

/// A process that dies at one of its operations: one of the disk, or a progress that a body tells.
/// It does not sync, because nothing here cuts the power.
#[derive(Debug)]
pub(super) struct Mortal {
    /// The directory in which it works.
    root: PathBuf,
    /// The number of the operation that is not done any more, from 1; `None` where it lives on.
    dies_at: Option<u64>,
    /// Who else wants to hear what the run tells.
    observer: Option<Arc<dyn Observer>>,
    life: Mutex<Life>,
}

/// What became of it so far.
#[derive(Debug, Default)]
struct Life {
    operations: u64,
    /// How many records are in the log.
    records: u64,
    /// The steps with an open attempt.
    open: BTreeSet<StepId>,
    /// What went into the log last.
    commit: Option<Commit>,
    death: Option<Death>,
}

/// What one append to the log wrote.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    /// The number of the operation.
    operation: u64,
    log: PathBuf,
    records: Vec<Record>,
    pub(super) bytes: u64,
}

/// How it died.
#[derive(Debug, Clone)]
pub(super) struct Death {
    pub(super) point: KillPoint,
    /// What it had just appended to the log, where nothing happened after that.
    pub(super) appended: Option<Commit>,
}

impl Mortal {
    /// One that works in a directory, and dies before an operation.
    pub(super) fn new(
        root: &Path,
        dies_at: Option<u64>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        Self { root: root.to_owned(), dies_at, observer, life: Mutex::default() }
    }

    /// How many operations there were.
    pub(super) fn operations(&self) -> u64 {
        self.with(|life| life.operations)
    }

    /// How it died, if it did.
    pub(super) fn death(&self) -> Option<Death> {
        self.with(|life| life.death.clone())
    }

    /// Counts an operation, which is done unless this is an error.
    fn live(
        &self,
        name: impl FnOnce(&Life) -> KillPoint,
        done: impl FnOnce(&mut Life),
    ) -> io::Result<()> {
        let dead = self.with(|life| {
            life.operations += 1;
            if life.death.is_none() && self.dies_at == Some(life.operations) {
                let before = life.operations - 1;
                let appended = life.commit.clone().filter(|commit| commit.operation == before);
                life.death = Some(Death { point: name(life), appended });
            }
            if life.death.is_none() {
                done(life);
            }
            life.death.is_some()
        });
        match dead {
            false => Ok(()),
            // A second unwinding would abort the test.
            true if std::thread::panicking() => Err(io::Error::other("the process is dead")),
            true => resume_unwind(Box::new("the process was killed")),
        }
    }

    fn is_log(&self, path: &Path) -> bool {
        path.parent().is_some_and(|dir| dir == self.root.join("logs"))
            && path.extension().is_some_and(|extension| extension == "jsonl")
    }

    /// Names the place before an operation.
    fn point(&self, life: &Life, operation: &Operation<'_>) -> KillPoint {
        let &Operation { what, path, bytes, .. } = operation;
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let is_log = self.is_log(path);
        let syncs_log =
            what == Op::Sync && is_log || what == Op::SyncDir && below == Path::new("logs");
        match &life.commit {
            _ if what == Op::Append && is_log => KillPoint::before(&records(bytes)),
            Some(commit) if syncs_log => KillPoint::after(&commit.records),
            _ => KillPoint::elsewhere(what, below, &life.open, life.records),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Life) -> T) -> T {
        act(&mut self.life.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Life {
    /// Notes what was appended to the log.
    fn appended(&mut self, log: &Path, bytes: &[u8]) {
        let records = records(bytes);
        for record in &records {
            match &record.event {
                Event::AttemptStarted(attempt) => drop(self.open.insert(attempt.step.clone())),
                Event::AttemptEnded { attempt, .. } => drop(self.open.remove(&attempt.step)),
                Event::EpochOpened(_) | Event::EpochClosed(_) | Event::Skipped { .. } => {}
            }
            self.records = record.seq + 1;
        }
        let (log, bytes) = (log.to_owned(), bytes.len() as u64);
        self.commit = Some(Commit { operation: self.operations, log, records, bytes });
    }
}

impl Commit {
    /// Leaves only its first bytes in the log, which ends with it; names what that is.
    ///
    /// # Errors
    /// What the disk says, with the log.
    pub(super) fn cut(&self, kept_bytes: u64) -> Result<KillPoint, (PathBuf, io::Error)> {
        let kept_bytes = kept_bytes.min(self.bytes);
        let cut = RealDisk.open(&self.log, Open::Write).and_then(|mut log| {
            let len_bytes = log.stat()?.0.len;
            log.set_len(len_bytes.saturating_sub(self.bytes - kept_bytes))
        });
        cut.map_err(|error| (self.log.clone(), error))?;
        Ok(KillPoint::torn(&self.records, kept_bytes, self.bytes))
    }
}

impl Hook for Mortal {
    fn course(&self, operation: &Operation<'_>) -> Course {
        let appends = operation.what == Op::Append && self.is_log(operation.path);
        let lived = self.live(
            |life| self.point(life, operation),
            |life| {
                if appends {
                    life.appended(operation.path, operation.bytes);
                }
            },
        );
        match lived {
            Err(dead) => Course::Fail(dead),
            Ok(()) if operation.what.is_sync() || operation.what == Op::Reserve => Course::Skip,
            Ok(()) => Course::Through,
        }
    }
}

impl Observer for Mortal {
    fn notice(&self, notice: Notice<'_>) {
        if let Notice::Progress { step, done, total } = notice {
            // Where this is told while its thread unwinds already, nothing more is to be done.
            drop(self.live(|_life| KillPoint::progress(step, done, total), |_life| {}));
        }
        if let Some(observer) = &self.observer {
            observer.notice(notice);
        }
    }
}

/// The records in what is appended to a log. One that keeps a part of it in a file of its own is
/// left out: it is a header, and the records behind it say enough.
fn records(bytes: &[u8]) -> Vec<Record> {
    let elsewhere = |_name: &str| Err(io::ErrorKind::NotFound.into());
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| Some(Record::decode(line, &elsewhere).ok()?.0)).collect()
}
