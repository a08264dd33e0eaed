//! [`HookDisk`]: a disk that asks before each operation how it shall go on.
//!
//! It is not a double by itself: what a hook says makes it one that fails, kills, counts, is slow
//! or is full.
//!
//! **Invariant:** it stands alone in passing on what the disk is asked; every double that works on
//! another disk is a [`Hook`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::operation::{Op, Operation};
use super::{Disk, DiskFile, FileSystem, Metadata, Open};

/// Judges the operations of a disk, in the order in which they happen.
pub trait Hook: fmt::Debug + Send + Sync {
    /// Says how an operation goes on; it waits for the answer.
    fn course(&self, _operation: &Operation<'_>) -> Course {
        Course::Through
    }

    /// Learns how an operation ended, before its caller does.
    fn ended(&self, _operation: &Operation<'_>, _how: &io::Result<()>) {}

    /// Says whether a file can be locked here at all; that is asked before each try.
    ///
    /// # Errors
    /// What a file system says that can't.
    fn lock(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Says what the file system is taken for.
    fn file_system(&self, found: FileSystem) -> FileSystem {
        found
    }

    /// Says who this process is taken for.
    fn user(&self, found: u32) -> u32 {
        found
    }
}

/// How an operation goes on.
#[derive(Debug)]
pub enum Course {
    /// It is done.
    Through,
    /// It is not done, and its caller is told that it was. A file is created all the same, since
    /// its caller needs one.
    Skip,
    /// It is not done, and fails. The disk below does not learn of it: where a failed sync shall
    /// poison what it should have synced, use [`SimDisk::fault`](crate::testing::SimDisk::fault).
    Fail(io::Error),
    /// An append, or a writing in place, does the first half of its bytes, and fails; another
    /// operation is not done, and fails.
    Half(io::Error),
}

/// A disk that does what another one does, as a hook of the type `H` lets it.
#[derive(Debug)]
pub struct Hooked<H: ?Sized> {
    below: Arc<dyn Disk>,
    hook: Arc<H>,
}

/// A disk that does what another one does, as a hook lets it.
///
/// ```
/// use std::sync::Arc;
///
/// use apollo::testing::{Course, Hook, HookDisk, Op, Operation, SimDisk};
/// use apollo::{RunOptions, step, task};
///
/// #[step]
/// fn answer() -> u64 {
///     42
/// }
///
/// task! { asked { steps: [answer] } }
///
/// /// There is no room for outputs.
/// #[derive(Debug)]
/// struct Full;
///
/// impl Hook for Full {
///     fn course(&self, operation: &Operation<'_>) -> Course {
///         let output = operation.path.starts_with("/.apollo/state");
///         if output && operation.what == Op::Append {
///             return Course::Half(std::io::ErrorKind::StorageFull.into());
///         }
///         Course::Through
///     }
/// }
///
/// let disk = HookDisk::new(Arc::new(SimDisk::new(0)), Arc::new(Full));
/// let options = RunOptions::new().dir("/.apollo").disk(Arc::new(disk));
/// let ended = asked().run(&options).unwrap_err();
/// assert!(ended.to_string().contains("an output failed"), "{ended}");
/// ```
pub type HookDisk = Hooked<dyn Hook>;

#[derive(Debug)]
struct HookFile<H: ?Sized> {
    disk: Hooked<H>,
    below: Box<dyn DiskFile>,
    path: PathBuf,
}

impl HookDisk {
    /// Does what `below` does, as `hook` lets it.
    #[must_use]
    pub fn new(below: Arc<dyn Disk>, hook: Arc<dyn Hook>) -> Self {
        Self::with(below, hook)
    }
}

impl<H: ?Sized> Clone for Hooked<H> {
    fn clone(&self) -> Self {
        Self { below: Arc::clone(&self.below), hook: Arc::clone(&self.hook) }
    }
}

impl<H: Hook + ?Sized> Hooked<H> {
    pub(super) fn with(below: Arc<dyn Disk>, hook: Arc<H>) -> Self {
        Self { below, hook }
    }

    pub(super) fn hook(&self) -> &H {
        &self.hook
    }

    /// Does an operation as the hook lets it: `act` with the bytes that are to be written.
    fn pass(
        &self,
        operation: &Operation<'_>,
        act: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let how = match self.hook.course(operation) {
            Course::Through => act(operation.bytes),
            Course::Skip => Ok(()),
            Course::Half(error) if operation.what.is_divisible() => {
                act(operation.first_half()).and(Err(error))
            }
            Course::Fail(error) | Course::Half(error) => Err(error),
        };
        self.hook.ended(operation, &how);
        how
    }
}

impl<H: Hook + ?Sized + 'static> Disk for Hooked<H> {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let creates = match how {
            Open::Read | Open::Write => false,
            Open::CreateNew => true,
            Open::Create => self.below.metadata(path).is_err(),
        };
        let mut opened = None;
        if creates {
            self.pass(&Operation::on(Op::Create, path), &mut |_| {
                opened = Some(self.below.open(path, how)?);
                Ok(())
            })?;
        }
        let below = opened.map_or_else(|| self.below.open(path, how), Ok)?;
        Ok(Box::new(HookFile { disk: self.clone(), below, path: path.to_owned() }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.pass(&Operation::on(Op::CreateDir, path), &mut |_| self.below.create_dir(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.below.list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(&Operation::on(Op::Rename, to), &mut |_| self.below.rename(from, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(&Operation::on(Op::HardLink, to), &mut |_| self.below.hard_link(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.pass(&Operation::on(Op::RemoveFile, path), &mut |_| self.below.remove_file(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.pass(&Operation::on(Op::RemoveDirAll, path), &mut |_| self.below.remove_dir_all(path))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.pass(&Operation::on(Op::SyncDir, dir), &mut |_| self.below.sync_dir(dir))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.below.metadata(path)
    }

    fn target(&self, path: &Path) -> io::Result<Metadata> {
        self.below.target(path)
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        self.below.file_system(path).map(|found| self.hook.file_system(found))
    }

    fn user(&self) -> u32 {
        self.hook.user(self.below.user())
    }

    fn pid(&self) -> u32 {
        self.below.pid()
    }
}

impl<H: Hook + ?Sized + 'static> DiskFile for HookFile<H> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self { disk, below, path } = self;
        let operation = Operation::writing(Op::Append, path, bytes);
        disk.pass(&operation, &mut |bytes| below.append(bytes))
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let Self { disk, below, path } = self;
        let operation = Operation::writing(Op::WriteAt, path, bytes);
        disk.pass(&operation, &mut |bytes| below.write_at(offset_bytes, bytes))
    }

    fn read_at(&mut self, offset_bytes: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.below.read_at(offset_bytes, buf)
    }

    fn stat(&self) -> io::Result<(Metadata, u64)> {
        self.below.stat()
    }

    fn sync(&mut self) -> io::Result<()> {
        let Self { disk, below, path } = self;
        disk.pass(&Operation::on(Op::Sync, path), &mut |_| below.sync())
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        let Self { disk, below, path } = self;
        let operation = Operation::sizing(Op::SetLen, path, len_bytes);
        disk.pass(&operation, &mut |_| below.set_len(len_bytes))
    }

    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let Self { disk, below, path } = self;
        let operation = Operation::sizing(Op::Reserve, path, len_bytes);
        disk.pass(&operation, &mut |_| below.reserve(offset_bytes, len_bytes))
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        self.disk.hook.lock(&self.path)?;
        self.below.try_lock()
    }

    fn try_lock_shared(&mut self) -> io::Result<bool> {
        self.disk.hook.lock(&self.path)?;
        self.below.try_lock_shared()
    }
}
