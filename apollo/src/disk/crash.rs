//! [`CrashDisk`]: a disk that fails, or takes the process down, at one chosen operation.
//!
//! It is not a simulation of what a power cut leaves: everything that was done before the fault is
//! on the disk below.
//!
//! **Invariant:** every operation that changes something durable or visible is counted, from 1, in
//! the order in which they happen; reading, asking and locking are not.

#![cfg_attr(
    not(feature = "testing"),
    expect(unreachable_pub, reason = "public with the feature; in the crate's own tests without")
)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use super::{Disk, DiskFile, FileSystem, Metadata, Open};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process kills itself with SIGKILL before the operation.
    Kill,
    /// The process kills itself; where the operation is an append, or a writing in place, after
    /// the first half of its bytes.
    KillTorn,
    /// The operation fails with this errno and does nothing; later ones work again.
    Fail(Errno),
    /// An append, or a writing in place, fails after the first half of its bytes; another
    /// operation fails with EIO and does nothing. Later ones work again.
    Short,
    /// The operation and all later ones fail and do nothing: for a test that plays a killed
    /// process without ending its own.
    Dead,
}

/// A disk that does what another one does, until the chosen operation.
#[derive(Debug, Clone)]
pub struct CrashDisk {
    below: Arc<dyn Disk>,
    plan: Arc<Plan>,
}

/// A text that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` names no fault: want N, N:torn, N:eio, N:enospc, N:short or count:FILE", .text.escape_debug())]
#[non_exhaustive]
pub struct CrashSpecError {
    /// The text as it was given.
    pub text: String,
}

#[derive(Debug)]
struct Plan {
    /// How many operations there were.
    operations: AtomicU64,
    /// How many of them were syncs.
    syncs: AtomicU64,
    /// The number of the operation that meets the fault, from 1; 0 for none.
    at: u64,
    fault: Fault,
    /// Where the number of operations is kept.
    count: Option<PathBuf>,
    /// The first operation that met the fault.
    met: Mutex<Option<(&'static str, PathBuf)>>,
}

/// How an operation goes on.
enum Verdict {
    Through,
    /// Only the first half, and then this.
    Half(Box<dyn FnOnce() -> io::Error>),
}

#[derive(Debug)]
struct CrashFile {
    disk: CrashDisk,
    below: Box<dyn DiskFile>,
    path: PathBuf,
}

impl CrashDisk {
    /// Does what `below` does until its `at`-th operation, from 1; 0 for never.
    #[must_use]
    pub fn new(below: Arc<dyn Disk>, at: u64, fault: Fault) -> Self {
        Self::with(below, at, fault, None)
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
            return Ok(Self::with(below, 0, Fault::Kill, Some(PathBuf::from(word))));
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
        self.plan.operations.load(Ordering::SeqCst)
    }

    /// How many of them were syncs, of a file or a directory.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.plan.syncs.load(Ordering::SeqCst)
    }

    fn with(below: Arc<dyn Disk>, at: u64, fault: Fault, count: Option<PathBuf>) -> Self {
        let (operations, syncs, met) = <_>::default();
        Self { below, plan: Arc::new(Plan { operations, syncs, at, fault, count, met }) }
    }

    /// The first operation that met the fault: its name, and the file or directory.
    #[must_use]
    pub fn met(&self) -> Option<(&'static str, PathBuf)> {
        self.plan.met.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts an operation that can't be done by half.
    fn step(&self, what: &'static str, path: &Path) -> io::Result<()> {
        match self.judge(what, path, false)? {
            Verdict::Through => Ok(()),
            Verdict::Half(then) => Err(then()),
        }
    }

    /// Counts an operation and decides how it goes on.
    fn judge(&self, what: &'static str, path: &Path, divisible: bool) -> io::Result<Verdict> {
        let Plan { operations, syncs: _, at, fault, count, met: first } = &*self.plan;
        let number = operations.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(path) = count {
            let text = format!("{number:020}\n");
            self.below.open(path, Open::Create)?.write_at(0, text.as_bytes())?;
        }
        let met = if *fault == Fault::Dead { *at != 0 && number >= *at } else { number == *at };
        if !met {
            return Ok(Verdict::Through);
        }
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| (what, path.to_owned()));
        drop(first);
        match fault {
            Fault::Kill => Err(kill()),
            Fault::KillTorn if divisible => Ok(Verdict::Half(Box::new(kill))),
            Fault::KillTorn => Err(kill()),
            Fault::Fail(errno) => Err((*errno).into()),
            Fault::Short if divisible => {
                Ok(Verdict::Half(Box::new(|| io::ErrorKind::WriteZero.into())))
            }
            Fault::Short => Err(Errno::IO.into()),
            Fault::Dead => Err(io::Error::other("the process is dead")),
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

fn half(bytes: &[u8]) -> &[u8] {
    bytes.get(..bytes.len() / 2).unwrap_or_default()
}

impl Disk for CrashDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let creates = match how {
            Open::Read | Open::Write => false,
            Open::CreateNew => true,
            Open::Create => self.below.metadata(path).is_err(),
        };
        if creates {
            self.step("create", path)?;
        }
        let below = self.below.open(path, how)?;
        Ok(Box::new(CrashFile { disk: self.clone(), below, path: path.to_owned() }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step("create_dir", path)?;
        self.below.create_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.below.list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename", to)?;
        self.below.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("hard_link", to)?;
        self.below.hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step("remove_file", path)?;
        self.below.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.step("remove_dir_all", path)?;
        self.below.remove_dir_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.step("sync_dir", dir)?;
        self.plan.syncs.fetch_add(1, Ordering::SeqCst);
        self.below.sync_dir(dir)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.below.metadata(path)
    }

    fn target(&self, path: &Path) -> io::Result<Metadata> {
        self.below.target(path)
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        self.below.file_system(path)
    }

    fn user(&self) -> u32 {
        self.below.user()
    }
}

impl DiskFile for CrashFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.disk.judge("append", &self.path, true)? {
            Verdict::Through => self.below.append(bytes),
            Verdict::Half(then) => {
                self.below.append(half(bytes))?;
                Err(then())
            }
        }
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        match self.disk.judge("write_at", &self.path, true)? {
            Verdict::Through => self.below.write_at(offset_bytes, bytes),
            Verdict::Half(then) => {
                self.below.write_at(offset_bytes, half(bytes))?;
                Err(then())
            }
        }
    }

    fn read_at(&mut self, offset_bytes: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.below.read_at(offset_bytes, buf)
    }

    fn stat(&self) -> io::Result<(Metadata, u64)> {
        self.below.stat()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.step("sync", &self.path)?;
        self.disk.plan.syncs.fetch_add(1, Ordering::SeqCst);
        self.below.sync()
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        self.disk.step("set_len", &self.path)?;
        self.below.set_len(len_bytes)
    }

    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.disk.step("reserve", &self.path)?;
        self.below.reserve(offset_bytes, len_bytes)
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        self.below.try_lock()
    }

    fn try_lock_shared(&mut self) -> io::Result<bool> {
        self.below.try_lock_shared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{RealDisk, TempDir, read_all};

    fn check(value: &str, expected: Option<(u64, Fault)>) {
        let read = CrashDisk::from_env_value(value, Arc::new(RealDisk));
        let read = read.ok().map(|disk| (disk.plan.at, disk.plan.fault));
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
