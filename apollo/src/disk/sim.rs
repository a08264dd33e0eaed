//! [`SimDisk`]: a whole file system in memory, which remembers what was synced and what was not.
//!
//! It is not a model of one file system, but of the worst that several may do at a power cut:
//!
//! - bytes that were not synced: a first part of what was written; grains of it in any order, with
//!   NULs before a later grain that arrived; torn at any byte; the new length with NULs for bytes;
//! - names that were not synced: the first changes, as a journal brings them to the platter, or
//!   any of them, though those of one name in their order;
//! - each file and each name for itself: a name without bytes, and bytes without a name. Syncing a
//!   file brings no name to the platter, and syncing a directory no bytes;
//! - what a failed sync did not bring to the platter is seen until then, and gone afterwards.
//!
//! **Invariant:** what was synced, by name and content, survives everything but [`SimDisk::rot`].
//! **Invariant:** what happens follows from the seed and from what is asked, nothing else, as long
//! as one thread asks.

mod chance;
mod content;
mod inode;
mod names;
mod machine;
mod file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault::{Fault, Plan, Verdict, dead};
use super::hook::Course;
use super::operation::{Op, Operation};
use super::{Disk, DiskFile, FileSystem, Metadata, Open};
use file::SimFile;
use machine::{Machine, USER};

/// A simulated disk, as one process sees it; a clone is the same process.
///
/// ```
/// use std::path::Path;
///
/// use apollo::testing::SimDisk;
/// use apollo::{Disk, Open};
///
/// let path = Path::new("/note");
/// for seed in 0..100 {
///     let disk = SimDisk::new(seed);
///     let mut file = disk.open(path, Open::CreateNew)?;
///     file.append(b"synced, ")?;
///     file.sync()?;
///     disk.sync_dir(Path::new("/"))?;
///     file.append(b"written")?;
///     let found = disk.cut_power().read(path).unwrap();
///     assert!(found.starts_with(b"synced, "), "and of the rest, whatever the seed says");
///     assert!(found.len() <= b"synced, written".len());
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct SimDisk {
    machine: Arc<Mutex<Machine>>,
    process: Arc<Process>,
}

/// A process on the machine.
#[derive(Debug)]
struct Process {
    number: u64,
    plan: Plan,
    dead: AtomicBool,
}

impl SimDisk {
    /// A machine with an empty disk.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::on(Arc::new(Mutex::new(Machine::new(seed))))
    }

    /// Lets the `at`-th counted operation of this process, from 1, meet a fault; other ones that
    /// were armed before stay armed.
    ///
    /// A sync of a file that fails leaves what was written poisoned: by chance a part of it is
    /// durable; the rest can still be read, but never becomes durable, although later syncs
    /// succeed. A sync of a directory that fails makes no name durable; a later one does.
    pub fn fault(&self, at: u64, fault: Fault) {
        self.process.plan.arm(at, fault);
    }

    /// How many operations of this process were counted: those that change or sync something.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.process.plan.operations()
    }

    /// How many of them were syncs, of a file or a directory.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.process.plan.syncs()
    }

    /// The first operation that met a fault: its name, and the file or directory.
    #[must_use]
    pub fn met(&self) -> Option<(&'static str, PathBuf)> {
        self.process.plan.met()
    }

    /// Leaves so many bytes free; what is written or reserved takes from them.
    pub fn room(&self, free_bytes: u64) {
        self.look().set_free_bytes(free_bytes);
    }

    /// Another process on the same machine; no fault is armed.
    #[must_use]
    pub fn process(&self) -> Self {
        Self::on(Arc::clone(&self.machine))
    }

    /// Ends this process, as `kill -9` does: what it has open fails from now on, its locks are
    /// free, all that it wrote is there. Gives the next process.
    #[must_use = "the process is dead; the next one sees the same disk"]
    pub fn kill(&self) -> Self {
        self.die(&mut self.look());
        self.process()
    }

    /// Cuts the power: all processes of the machine are dead, and what was not synced is lost,
    /// kept, or kept in part, as the seed says. Gives the first process after it, on a machine of
    /// its own. So one moment can have several ends: cutting the power of the same machine again
    /// gives another one, and [`Self::kill`] the one without a cut.
    #[must_use = "the process is dead; the next one sees what is left"]
    pub fn cut_power(&self) -> Self {
        let left = self.look().cut();
        Self::on(Arc::new(Mutex::new(left)))
    }

    /// Changes the bits of `mask` in one byte of a file, as an old disk does; tells whether there
    /// is such a byte.
    #[must_use = "where there is no such byte, nothing was changed"]
    pub fn rot(&self, path: impl AsRef<Path>, offset_bytes: u64, mask: u8) -> bool {
        let mut machine = self.look();
        let found = machine.names.find(path.as_ref());
        found.is_ok_and(|ino| machine.rot(ino, offset_bytes, mask))
    }

    /// The bytes of a file, as every process sees them.
    #[must_use]
    pub fn read(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let machine = self.look();
        let ino = machine.names.find(path.as_ref()).ok().filter(|ino| !machine.names.is_dir(*ino));
        Some(machine.live(ino?).to_owned())
    }

    /// The bytes of a file after a power cut that loses whatever was not synced.
    #[must_use]
    pub fn durable(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let machine = self.look();
        let ino = machine.names.find_durable(path.as_ref()).ok();
        let ino = ino.filter(|ino| !machine.names.is_dir(*ino));
        Some(machine.platter(ino?).to_owned())
    }

    /// The path of every file, in their order, and its bytes as every process sees them.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.look().files()
    }

    /// Puts these bytes in the place of a file's, as another program does that syncs nothing.
    ///
    /// # Errors
    /// What a disk says where the directory is not there, or the path is one.
    pub fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.process().open(path.as_ref(), Open::Create)?;
        file.set_len(0)?;
        file.append(bytes)
    }

    fn on(machine: Arc<Mutex<Machine>>) -> Self {
        let number = machine.lock().unwrap_or_else(PoisonError::into_inner).next();
        let process = Process { number, plan: Plan::default(), dead: AtomicBool::new(false) };
        Self { machine, process: Arc::new(process) }
    }

    /// The machine, as one looks at it from outside.
    fn look(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine, for a process that lives.
    fn alive(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let machine = self.look();
        let ended = self.process.dead.load(Ordering::SeqCst);
        let lives = !ended && machine.has_power(self.process.number);
        if lives { Ok(machine) } else { Err(dead()) }
    }

    fn die(&self, machine: &mut Machine) {
        self.process.dead.store(true, Ordering::SeqCst);
        machine.end(|process| process == self.process.number);
    }

    /// Counts an operation and says how it goes on.
    fn begin(&self, operation: &Operation<'_>) -> io::Result<(MutexGuard<'_, Machine>, Course)> {
        let mut machine = self.alive()?;
        let (_number, verdict) = self.process.plan.judge(operation);
        let course = match verdict {
            Verdict::Through => Course::Through,
            Verdict::Fail(error) => Course::Fail(error),
            Verdict::Half(error) => Course::Half(error),
            Verdict::Kill { half: true } => {
                self.die(&mut machine);
                Course::Half(dead())
            }
            Verdict::Kill { half: false } | Verdict::Dead => {
                self.die(&mut machine);
                return Err(dead());
            }
        };
        Ok((machine, course))
    }

    /// Counts an operation that does nothing when it fails.
    fn whole(&self, operation: &Operation<'_>) -> io::Result<MutexGuard<'_, Machine>> {
        let (machine, course) = self.begin(operation)?;
        match course {
            Course::Through | Course::Skip => Ok(machine),
            Course::Fail(error) | Course::Half(error) => Err(error),
        }
    }

    /// Counts an operation about a name.
    fn naming(&self, what: Op, path: &Path) -> io::Result<MutexGuard<'_, Machine>> {
        self.whole(&Operation::on(what, path))
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimDisk").field("process", &self.process).finish_non_exhaustive()
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut machine = self.alive()?;
        let creates = match how {
            Open::Read | Open::Write => false,
            Open::CreateNew => true,
            Open::Create => machine.names.find(path).is_err(),
        };
        if creates {
            drop(machine);
            machine = self.naming(Op::Create, path)?;
        }
        let opened = machine.open(self.process.number, path, how)?;
        Ok(Box::new(SimFile::new(self.clone(), path, opened)))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.naming(Op::CreateDir, path)?.create_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.alive()?.list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.naming(Op::Rename, to)?.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.naming(Op::HardLink, to)?.hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.naming(Op::RemoveFile, path)?.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.naming(Op::RemoveDirAll, path)?.remove_dir_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.naming(Op::SyncDir, dir)?.sync_dir(dir)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let machine = self.alive()?;
        Ok(machine.metadata(machine.names.find(path)?))
    }

    fn target(&self, path: &Path) -> io::Result<Metadata> {
        self.metadata(path)
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        let machine = self.alive()?;
        machine.names.find(path)?;
        let free_bytes = machine.free_bytes();
        Ok(FileSystem { free_bytes, in_memory: false, network: false, copy_on_write: false })
    }

    fn user(&self) -> u32 {
        USER
    }

    fn pid(&self) -> u32 {
        u32::try_from(self.process.number).unwrap_or(u32::MAX)
    }
}
