//! [`Watch`]: sees what a process asks of its disk, and what of that failed.
//!
//! It is not a fault: every operation is let through.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use apollo::testing::{Course, Hook, Op, Operation, SimDisk};
use serde::Deserialize;

use super::check::{Check, Violation};
use super::damage::records_of;

/// Sees what a process asks of its disk.
#[derive(Debug)]
pub struct Watch {
    disk: SimDisk,
    seen: Mutex<Seen>,
}

/// What a line vouches for.
#[derive(Deserialize)]
struct Vouches {
    durable: u64,
}

#[derive(Debug, Default)]
struct Seen {
    /// What was given its name last.
    placed: PathBuf,
    /// The first operation that failed.
    failed: Option<Failed>,
    /// Whether a log could not be written or synced.
    poisoned: bool,
    violation: Option<Violation>,
}

/// An operation that failed.
#[derive(Debug, Clone)]
pub struct Failed {
    /// What it was.
    pub what: Op,
    /// The file or directory.
    pub path: PathBuf,
    /// Whether the epoch may go on all the same.
    pub may_fail: bool,
}

impl Watch {
    /// Watches who works on a disk.
    pub fn of(disk: &SimDisk) -> Self {
        Self { disk: disk.clone(), seen: Mutex::default() }
    }

    /// The first operation that failed.
    pub fn failed(&self) -> Option<Failed> {
        self.seen().failed.clone()
    }

    /// The first check that did not hold.
    pub fn violation(&self) -> Option<Violation> {
        self.seen().violation.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who vouches for so many records of a log vouches for what a power cut would leave.
    fn judge_vouched(&self, log: &Path, vouched: Option<u64>) -> Result<(), Violation> {
        let durable = self.disk.durable(log).unwrap_or_default();
        let lines = durable.iter().filter(|byte| **byte == b'\n').count() as u64;
        let vouched = vouched.unwrap_or_default();
        Check::VouchedDurable.holds(vouched <= lines, || {
            format!("{vouched} records of {} are vouched for, {lines} are durable", log.display())
        })
    }
}

impl Seen {
    fn note(&mut self, checked: Result<(), Violation>) {
        self.violation = self.violation.take().or(checked.err());
    }
}

impl Hook for Watch {
    fn course(&self, operation: &Operation<'_>) -> Course {
        let mut seen = self.seen();
        if seen.poisoned && is_log(operation.path) && makes_durable(operation.what) {
            let what = format!("{} of {}", operation.what.name(), operation.path.display());
            seen.note(Check::Poisoned.fails(format!("{what} after a failure of the log")));
        }
        if operation.what == Op::Append && is_log(operation.path) {
            let lines = operation.bytes.split(|byte| *byte == b'\n');
            let vouches = lines.filter_map(|line| serde_json::from_slice::<Vouches>(line).ok());
            let vouched = vouches.map(|line| line.durable).max();
            seen.note(self.judge_vouched(operation.path, vouched));
        }
        Course::Through
    }

    fn ended(&self, operation: &Operation<'_>, how: &io::Result<()>) {
        let (what, path) = (operation.what, operation.path);
        let mut seen = self.seen();
        if what == Op::Rename {
            path.clone_into(&mut seen.placed);
        }
        let of = path.with_extension("");
        if what == Op::Rename && how.is_ok() && ends_in(path, "snapshot") && is_log(&of) {
            let vouched = self.disk.read(path).and_then(|snapshot| records_of(&snapshot));
            seen.note(self.judge_vouched(&of, vouched));
        }
        let Err(error) = how else { return };
        // Answers, and no failures.
        if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) {
            return;
        }
        let derived = is_derived(path) || (what == Op::SyncDir && is_derived(&seen.placed));
        let may_fail = derived || tidies_up(what, path);
        let of_log = is_log(path) && makes_durable(what);
        let of_logs = what == Op::SyncDir && path.ends_with("logs") && !derived;
        seen.poisoned |= of_log || of_logs;
        seen.failed.get_or_insert_with(|| Failed { what, path: path.to_owned(), may_fail });
    }
}

fn is_log(path: &Path) -> bool {
    ends_in(path, "jsonl")
}

fn ends_in(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|extension| extension == end)
}

/// Whether it makes a record, or what it stands on, more durable than it was.
fn makes_durable(what: Op) -> bool {
    matches!(what, Op::Append | Op::WriteAt | Op::Sync)
}

/// Whether a file can be made again at any time.
fn is_derived(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.contains(".jsonl.snapshot")
}

/// Whether an operation only tidies up, names the holder of a lock, keeps a line that a body said, or
/// reserves room.
fn tidies_up(what: Op, path: &Path) -> bool {
    let inside = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    what == Op::Reserve
        || (what == Op::RemoveDirAll && inside(".staging"))
        || inside("output")
        || (ends_in(path, "lock") && [Op::SetLen, Op::Append].contains(&what))
}
