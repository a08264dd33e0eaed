//! [`SimDisk`]: a whole file system in memory, which remembers what was synced and what was not.
//!
//! It is not a fake that always works: it loses what a disk may lose at a power cut, and it is
//! not slower or larger than a test needs. Everything is decided by a seed, never by the machine.
//!
//! **Invariant:** what was synced, by name and content, survives everything but [`SimDisk::rot`].

mod chance;
mod content;
mod names;

mod machine;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault::{Fault, Plan, Verdict, dead};
use super::operation::{Op, Operation};
use super::{Disk, DiskFile, FileSystem, Metadata, Open};
use machine::{Machine, Opened, USER};

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

/// An open file of a simulated process.
#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    path: PathBuf,
    opened: Opened,
}

/// An operation that was let through, or is done by half.
struct Going<'a> {
    machine: MutexGuard<'a, Machine>,
    /// The error that it ends with after its first half.
    then: Option<io::Error>,
}

impl SimDisk {
    /// A machine with an empty disk.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::on(Arc::new(Mutex::new(Machine::new(seed))))
    }

    /// Lets the `at`-th counted operation of this process, from 1, meet a fault; other ones that
    /// were armed before stay armed. A sync of a file that fails leaves what was written poisoned:
    /// it can still be read, and never becomes durable, although later syncs succeed.
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

    /// Cuts the power: the process is dead, and what was not synced is lost, kept, or kept in part,
    /// as the seed says. Gives the first process after it, on a disk of its own; cutting the power
    /// of the same process again gives another possible end of it.
    #[must_use = "the process is dead; the next one sees what is left"]
    pub fn cut_power(&self) -> Self {
        let mut machine = self.look();
        self.die(&mut machine);
        Self::on(Arc::new(Mutex::new(machine.cut())))
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
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
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
        if self.process.dead.load(Ordering::SeqCst) { Err(dead()) } else { Ok(machine) }
    }

    fn die(&self, machine: &mut Machine) {
        self.process.dead.store(true, Ordering::SeqCst);
        machine.end(self.process.number);
    }

    /// Counts an operation and lets it go on, as a whole or by half.
    fn begin(&self, operation: &Operation<'_>) -> io::Result<Going<'_>> {
        let mut machine = self.alive()?;
        let (_number, verdict) = self.process.plan.judge(operation);
        let then = match verdict {
            Verdict::Through => None,
            Verdict::Fail(error) => return Err(error),
            Verdict::Half(error) => Some(error),
            Verdict::Kill { half } => {
                self.die(&mut machine);
                if !half {
                    return Err(dead());
                }
                Some(dead())
            }
            Verdict::Dead => {
                self.die(&mut machine);
                return Err(dead());
            }
        };
        Ok(Going { machine, then })
    }

    /// Counts an operation that is not done by half.
    fn whole(&self, what: Op, path: &Path) -> io::Result<MutexGuard<'_, Machine>> {
        let Going { machine, then } = self.begin(&Operation::on(what, path))?;
        then.map_or(Ok(machine), Err)
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
            machine = self.whole(Op::Create, path)?;
        }
        let opened = machine.open(self.process.number, path, how)?;
        Ok(Box::new(SimFile { disk: self.clone(), path: path.to_owned(), opened }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.whole(Op::CreateDir, path)?.create_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.alive()?.list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole(Op::Rename, to)?.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole(Op::HardLink, to)?.hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.whole(Op::RemoveFile, path)?.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.whole(Op::RemoveDirAll, path)?.remove_dir_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.whole(Op::SyncDir, dir)?.sync_dir(dir)
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
}

impl SimFile {
    fn write(&self, what: Op, at: Option<u64>, bytes: &[u8]) -> io::Result<()> {
        let operation = Operation::writing(what, &self.path, bytes);
        let Going { mut machine, then } = self.disk.begin(&operation)?;
        match then {
            None => machine.write(self.opened.ino, at, bytes),
            Some(error) => {
                machine.write(self.opened.ino, at, operation.first_half()).and(Err(error))
            }
        }
    }
}

impl DiskFile for SimFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(Op::Append, None, bytes)
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        self.write(Op::WriteAt, Some(offset_bytes), bytes)
    }

    fn read_at(&mut self, offset_bytes: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.disk.alive()?.read(self.opened.ino, offset_bytes, buf))
    }

    fn stat(&self) -> io::Result<(Metadata, u64)> {
        let machine = self.disk.alive()?;
        let ino = self.opened.ino;
        Ok((machine.metadata(ino), machine.names.count(ino)))
    }

    fn sync(&mut self) -> io::Result<()> {
        let synced = self.disk.whole(Op::Sync, &self.path);
        match synced {
            Ok(mut machine) => machine.sync(self.opened.ino),
            Err(error) => {
                // A process that is dead syncs nothing, and fails to sync nothing.
                if let Ok(mut machine) = self.disk.alive() {
                    machine.fail_sync(self.opened.ino);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        self.disk.whole(Op::SetLen, &self.path)?.set_len(self.opened.ino, len_bytes)
    }

    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let mut machine = self.disk.whole(Op::Reserve, &self.path)?;
        machine.reserve(self.opened.ino, offset_bytes, len_bytes)
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        Ok(self.disk.alive()?.lock(self.opened, true))
    }

    fn try_lock_shared(&mut self) -> io::Result<bool> {
        Ok(self.disk.alive()?.lock(self.opened, false))
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.disk.look().close(self.opened);
    }
}
