//! [`CrashDisk`]: a disk that fails, or takes the process down, at one chosen operation.
//!
//! It is not a simulation of what a power cut leaves: everything that was done before the fault is
//! on the disk below.
//!
//! **Invariant:** nothing is done before it is counted.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::fault::{Fault, Plan, Verdict, dead};
use super::hook::{Course, Hook, Hooked};
use super::operation::Operation;
use super::{Disk, Open};

/// A disk that does what another one does, until the chosen operation.
pub type CrashDisk = Hooked<Crash>;

/// The hook that fails, or kills, at the chosen operation.
#[derive(Debug)]
pub struct Crash {
    plan: Plan,
    /// Where the number of operations is kept, and by which disk.
    count: Option<(Arc<dyn Disk>, PathBuf)>,
    /// Whether the process ends with the operation that is being done.
    ending: AtomicBool,
}

/// A text that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` names no fault: want N, N:torn, N:eio, N:enospc, N:short or count:FILE", .text.escape_debug())]
#[non_exhaustive]
pub struct CrashSpecError {
    /// The text as it was given.
    pub text: String,
}

impl CrashDisk {
    /// Does what `below` does until its `at`-th operation, from 1; 0 for never.
    #[must_use]
    pub fn new(below: Arc<dyn Disk>, at: u64, fault: Fault) -> Self {
        Self::with(below, Arc::new(Crash::new(Plan::with(at, fault), None)))
    }

    /// Reads the fault from the value of an environment variable: `17` kills the process at its
    /// 17th operation, `17:torn` after half of it, `17:eio` and `17:enospc` make it fail,
    /// `17:short` makes it fail after half of it. `count:FILE` does nothing, but keeps the number
    /// of operations so far in that file, as 20 digits and a newline, so that a test learns how
    /// many there are.
    ///
    /// # Errors
    /// [`CrashSpecError`] when the text has another form.
    pub fn from_env_value(value: &str, below: Arc<dyn Disk>) -> Result<Self, CrashSpecError> {
        let refused = || CrashSpecError { text: value.to_owned() };
        let (number, word) = value.split_once(':').unwrap_or((value, ""));
        if number == "count" {
            let count = Some((Arc::clone(&below), PathBuf::from(word)));
            return Ok(Self::with(below, Arc::new(Crash::new(Plan::default(), count))));
        }
        let fault = match word {
            "" => Fault::Kill,
            "torn" => Fault::KillTorn,
            "eio" => Fault::Fail(Errno::IO),
            "enospc" => Fault::Fail(Errno::NOSPC),
            "short" => Fault::Short,
            _ => return Err(refused()),
        };
        Ok(Self::new(below, number.parse().map_err(|_ignored| refused())?, fault))
    }

    /// How many operations there were.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.hook().plan.operations()
    }

    /// How many of them were syncs, of a file or a directory.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.hook().plan.syncs()
    }

    /// The first operation that met the fault: its name, and the file or directory.
    #[must_use]
    pub fn met(&self) -> Option<(&'static str, PathBuf)> {
        self.hook().plan.met()
    }
}

impl Crash {
    fn new(plan: Plan, count: Option<(Arc<dyn Disk>, PathBuf)>) -> Self {
        Self { plan, count, ending: AtomicBool::new(false) }
    }

    fn keep(&self, number: u64) -> io::Result<()> {
        let Some((disk, path)) = &self.count else { return Ok(()) };
        let text = format!("{number:020}\n");
        disk.open(path, Open::Create)?.write_at(0, text.as_bytes())
    }
}

impl Hook for Crash {
    fn course(&self, operation: &Operation<'_>) -> Course {
        let (number, verdict) = self.plan.judge(operation);
        if let Err(error) = self.keep(number) {
            return Course::Fail(error);
        }
        match verdict {
            Verdict::Through => Course::Through,
            Verdict::Fail(error) => Course::Fail(error),
            Verdict::Half(error) => Course::Half(error),
            Verdict::Kill { half: true } => {
                self.ending.store(true, Ordering::SeqCst);
                Course::Half(dead())
            }
            Verdict::Kill { half: false } => Course::Fail(kill()),
            Verdict::Dead => Course::Fail(dead()),
        }
    }

    fn ended(&self, _operation: &Operation<'_>, _how: &io::Result<()>) {
        if self.ending.load(Ordering::SeqCst) {
            drop(kill());
        }
    }
}

/// Ends the process as `kill -9` does.
fn kill() -> io::Error {
    let killed =
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // The signal may take a moment; nothing may happen in it.
    loop {
        if let Err(errno) = killed {
            return errno.into();
        }
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{RealDisk, TempDir, read_all};

    fn check(value: &str, expected: Option<(u64, Fault)>) {
        let read = CrashDisk::from_env_value(value, Arc::new(RealDisk));
        let read = read.ok().and_then(|disk| disk.hook().plan.armed());
        assert_eq!(read, expected, "{value}");
    }

    #[test]
    fn a_fault_is_read_from_a_text() {
        check("17", Some((17, Fault::Kill)));
        check("17:torn", Some((17, Fault::KillTorn)));
        check("17:eio", Some((17, Fault::Fail(Errno::IO))));
        check("17:enospc", Some((17, Fault::Fail(Errno::NOSPC))));
        check("17:short", Some((17, Fault::Short)));
        for value in ["", "x", "17:", "17:what", "-1", "torn:17"] {
            check(value, if value == "17:" { Some((17, Fault::Kill)) } else { None });
        }
    }

    #[test]
    fn operations_are_counted_into_a_file_and_reading_is_none() {
        let dir = TempDir::new();
        let count = dir.path().join("count");
        let spec = format!("count:{}", count.display());
        let disk = CrashDisk::from_env_value(&spec, Arc::new(RealDisk)).unwrap();
        let mut file = disk.open(&dir.path().join("x"), Open::Create).unwrap();
        file.append(b"abc").unwrap();
        file.sync().unwrap();
        assert_eq!(file.read_at(0, &mut [0; 8]).unwrap(), 3);
        drop(disk.open(&dir.path().join("x"), Open::Create).unwrap());
        assert!(disk.list(dir.path()).is_ok() && disk.metadata(&count).is_ok());
        assert_eq!(disk.operations(), 3);
        assert_eq!(read_all(&RealDisk, &count).unwrap(), b"00000000000000000003\n");
    }

    #[test]
    fn a_short_write_leaves_its_first_half() {
        let dir = TempDir::new();
        let path = dir.path().join("x");
        let disk = CrashDisk::new(Arc::new(RealDisk), 2, Fault::Short);
        let mut file = disk.open(&path, Open::CreateNew).unwrap();
        assert!(file.append(b"abcdef").is_err());
        assert_eq!(read_all(&RealDisk, &path).unwrap(), b"abc");
        file.append(b"gh").unwrap();
        assert_eq!(read_all(&RealDisk, &path).unwrap(), b"abcgh");
    }
}
