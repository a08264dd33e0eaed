//! [`Fault`]: what goes wrong at a chosen operation, and the one place that counts and judges.
//!
//! It is not what a fault does to the world: the crash disk ends its process, the simulated disk
//! only plays that.
//!
//! **Invariant:** every operation that changes something durable or visible is counted, from 1, in
//! the order in which they happen; reading, asking and locking are not.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::operation::Operation;

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed before the operation.
    Kill,
    /// The process is killed; where the operation is an append, or a writing in place, after the
    /// first half of its bytes.
    KillTorn,
    /// The operation fails with this errno and does nothing; later ones work again.
    Fail(Errno),
    /// The operation and all later ones fail with this errno and do nothing: a disk that can only
    /// be read from then on (EROFS), or stays full.
    FailFrom(Errno),
    /// An append, or a writing in place, fails after the first half of its bytes; another
    /// operation fails with EIO and does nothing. Later ones work again.
    Short,
    /// The operation and all later ones fail and do nothing: for a test that plays a killed
    /// process without ending its own.
    Dead,
}

/// Which operations meet a fault, and how many there were.
#[derive(Debug, Default)]
pub(super) struct Plan(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    operations: u64,
    syncs: u64,
    /// The numbers of the operations that meet a fault.
    faults: Vec<(u64, Fault)>,
    /// The first operation that met a fault.
    met: Option<(&'static str, PathBuf)>,
}

/// How an operation goes on.
#[derive(Debug)]
pub(super) enum Verdict {
    Through,
    /// It does nothing and fails.
    Fail(io::Error),
    /// It does its first half and fails.
    Half(io::Error),
    /// The process ends, where `half` says so after the first half.
    Kill {
        half: bool,
    },
    /// The process counts as ended.
    Dead,
}

impl Plan {
    /// A fault at the `at`-th operation, from 1; 0 for never.
    pub(super) fn with(at: u64, fault: Fault) -> Self {
        let this = Self::default();
        this.arm(at, fault);
        this
    }

    /// Adds a fault at the `at`-th operation, from 1; 0 for never.
    pub(super) fn arm(&self, at: u64, fault: Fault) {
        if at != 0 {
            self.count().faults.push((at, fault));
        }
    }

    /// The first fault that is armed.
    #[cfg(test)]
    pub(super) fn armed(&self) -> Option<(u64, Fault)> {
        self.count().faults.first().copied()
    }

    pub(super) fn operations(&self) -> u64 {
        self.count().operations
    }

    /// How many operations that got through were syncs.
    pub(super) fn syncs(&self) -> u64 {
        self.count().syncs
    }

    pub(super) fn met(&self) -> Option<(&'static str, PathBuf)> {
        self.count().met.clone()
    }

    /// Counts an operation and decides how it goes on; tells its number as well.
    pub(super) fn judge(&self, operation: &Operation<'_>) -> (u64, Verdict) {
        let what = operation.what;
        let mut count = self.count();
        count.operations += 1;
        let number = count.operations;
        let meets = |&&(at, fault): &&(u64, Fault)| match fault {
            Fault::Dead | Fault::FailFrom(_) => number >= at,
            Fault::Kill | Fault::KillTorn | Fault::Fail(_) | Fault::Short => number == at,
        };
        let Some(&(_, fault)) = count.faults.iter().find(meets) else {
            count.syncs += u64::from(what.is_sync());
            return (number, Verdict::Through);
        };
        count.met.get_or_insert_with(|| (what.name(), operation.path.to_owned()));
        let verdict = match fault {
            Fault::Kill => Verdict::Kill { half: false },
            Fault::KillTorn => Verdict::Kill { half: what.is_divisible() },
            Fault::Fail(errno) | Fault::FailFrom(errno) => Verdict::Fail(errno.into()),
            Fault::Short if what.is_divisible() => Verdict::Half(io::ErrorKind::WriteZero.into()),
            Fault::Short => Verdict::Fail(Errno::IO.into()),
            Fault::Dead => Verdict::Dead,
        };
        (number, verdict)
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a process that counts as ended is told.
pub(super) fn dead() -> io::Error {
    io::Error::other("the process is dead")
}
