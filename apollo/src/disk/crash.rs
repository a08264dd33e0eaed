//! [`CrashDisk`]: a disk that fails, or takes the process down, at one chosen operation.
//!
//! It is not a simulation of what a power cut leaves: everything that was done before the fault is
//! on the disk below.
//!
//! **Invariant:** it counts what [`Plan`] counts, and nothing is done before it is counted.

#![cfg_attr(
    not(feature = "testing"),
    expect(unreachable_pub, reason = "public with the feature; in the crate's own tests without")
)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use super::fault::{Fault, Plan, Verdict, dead, half};
use super::operation::Op;
use super::{Disk, DiskFile, FileSystem, Metadata, Open};

/// A disk that does what another one does, until the chosen operation.
#[derive(Debug, Clone)]
pub struct CrashDisk {
    below: Arc<dyn Disk>,
    plan: Arc<Plan>,
    /// Where the number of operations is kept.
    count: Option<PathBuf>,
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
        self.plan.operations()
    }

    /// How many of them were syncs, of a file or a directory.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.plan.syncs()
    }

    fn with(below: Arc<dyn Disk>, at: u64, fault: Fault, count: Option<PathBuf>) -> Self {
        Self { below, plan: Arc::new(Plan::with(at, fault)), count }
    }

    /// The first operation that met the fault: its name, and the file or directory.
    #[must_use]
    pub fn met(&self) -> Option<(&'static str, PathBuf)> {
        self.plan.met()
    }

    /// Counts an operation that can't be done by half.
    fn step(&self, what: Op, path: &Path) -> io::Result<()> {
        self.judge(what, path)?.map_or(Ok(()), |then| Err(then()))
    }

    /// Counts an operation and decides how it goes on: as a whole, or its first half and then this.
    fn judge(&self, what: Op, path: &Path) -> io::Result<Option<Box<dyn FnOnce() -> io::Error>>> {
        let (number, verdict) = self.plan.judge(what, path);
        if let Some(path) = &self.count {
            let text = format!("{number:020}\n");
            self.below.open(path, Open::Create)?.write_at(0, text.as_bytes())?;
        }
        match verdict {
            Verdict::Through => Ok(None),
            Verdict::Fail(error) => Err(error),
            Verdict::Half(error) => Ok(Some(Box::new(|| error))),
            Verdict::Kill { half: true } => Ok(Some(Box::new(kill))),
            Verdict::Kill { half: false } => Err(kill()),
            Verdict::Dead => Err(dead()),
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

impl Disk for CrashDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let creates = match how {
            Open::Read | Open::Write => false,
            Open::CreateNew => true,
            Open::Create => self.below.metadata(path).is_err(),
        };
        if creates {
            self.step(Op::Create, path)?;
        }
        let below = self.below.open(path, how)?;
        Ok(Box::new(CrashFile { disk: self.clone(), below, path: path.to_owned() }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step(Op::CreateDir, path)?;
        self.below.create_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.below.list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Op::Rename, to)?;
        self.below.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Op::HardLink, to)?;
        self.below.hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step(Op::RemoveFile, path)?;
        self.below.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.step(Op::RemoveDirAll, path)?;
        self.below.remove_dir_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.step(Op::SyncDir, dir)?;
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
        match self.disk.judge(Op::Append, &self.path)? {
            None => self.below.append(bytes),
            Some(then) => {
                self.below.append(half(bytes))?;
                Err(then())
            }
        }
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        match self.disk.judge(Op::WriteAt, &self.path)? {
            None => self.below.write_at(offset_bytes, bytes),
            Some(then) => {
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
        self.disk.step(Op::Sync, &self.path)?;
        self.below.sync()
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        self.disk.step(Op::SetLen, &self.path)?;
        self.below.set_len(len_bytes)
    }

    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.disk.step(Op::Reserve, &self.path)?;
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
        let read = read.ok().and_then(|disk| disk.plan.armed());
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
