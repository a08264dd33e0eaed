//! [`Disk`]: the file system as the log and the store need it, and its real implementation.
//!
//! It is not a virtual file system: only what Apollo does to files is here.
//!
//! **Invariant:** nothing outside this folder opens, writes, syncs, renames or removes a file, so
//! that a double can stand for the disk, and count and fail every operation.

mod atomic;
#[cfg(feature = "testing")]
mod operation;
#[cfg(feature = "testing")]
mod fault;
#[cfg(feature = "testing")]
mod hook;
#[cfg(feature = "testing")]
mod crash;
mod patience;
mod real;
#[cfg(feature = "testing")]
mod sim;
#[cfg(test)]
mod temp;

use std::fmt;
use std::io;
use std::path::Path;

pub(crate) use atomic::{AtomicFile, create_dirs, digest_of, read_all, write_atomic};
#[cfg(feature = "testing")]
pub use crash::{Crash, CrashDisk, CrashSpecError};
#[cfg(feature = "testing")]
pub use fault::Fault;
#[cfg(feature = "testing")]
pub use hook::{Course, Hook, HookDisk, Hooked};
#[cfg(feature = "testing")]
pub use operation::{Op, Operation};
pub(crate) use patience::patiently;
pub use real::RealDisk;
#[cfg(feature = "testing")]
pub use sim::SimDisk;
#[cfg(test)]
pub(crate) use temp::TempDir;

/// How a file is opened; new files have mode 0600 and symbolic links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// For reading; it must exist.
    Read,
    /// For reading and writing; it must exist.
    Write,
    /// For reading and writing; it must not exist.
    CreateNew,
    /// For reading and writing; created when it does not exist.
    Create,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// Whether it is a directory (symbolic links are not followed).
    pub is_dir: bool,
    /// Whether it is a symbolic link.
    pub is_symlink: bool,
    /// Its length in bytes.
    pub len: u64,
    /// Device and inode.
    pub id: (u64, u64),
    /// The permission bits.
    pub mode: u32,
    /// The owner's user id.
    pub uid: u32,
}

/// What kind of file system a path is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystem {
    /// Bytes that this user can still write.
    pub free_bytes: u64,
    /// It lives in memory (tmpfs): nothing survives a restart.
    pub in_memory: bool,
    /// It is reached over a network: locks may not hold.
    pub network: bool,
    /// It writes in new places (btrfs): reserved room is no promise.
    pub copy_on_write: bool,
}

/// A door to the file system.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// What the system says; also when the path is no regular file. Nothing was created, except by
    /// [`Open::Create`] and [`Open::CreateNew`].
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>>;
    /// Creates a directory with mode 0700; its parent must exist.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` when something is there.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Moves a file over another one, or a directory to a free name.
    ///
    /// # Errors
    /// What the system says; both names are as they were.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which must be free.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` when something has the name, `Unsupported` when the
    /// file system has no second names. Nothing has changed.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// What the system says; `NotFound` when it is not there.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory and what is in it.
    ///
    /// # Errors
    /// What the system says; a part of it may be gone.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// What the system says; which names would survive a power cut is then unknown.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// What a path is, without following a symbolic link.
    ///
    /// # Errors
    /// What the system says; `NotFound` when nothing is there.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    /// What a path is, after following symbolic links.
    ///
    /// # Errors
    /// What the system says; `NotFound` also for a link that leads nowhere.
    fn target(&self, path: &Path) -> io::Result<Metadata>;
    /// What kind of file system a path is on.
    ///
    /// # Errors
    /// What the system says.
    fn file_system(&self, path: &Path) -> io::Result<FileSystem>;
    /// The user id that owns what this process creates.
    fn user(&self) -> u32;
    /// The id of this process.
    fn pid(&self) -> u32;
}

/// An open file. Dropping it closes it and releases its lock.
pub trait DiskFile: fmt::Debug + Send {
    /// Writes all bytes at the end.
    ///
    /// # Errors
    /// What the system says; a part of the bytes may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Writes all bytes at an offset, in place.
    ///
    /// # Errors
    /// What the system says; a part of the bytes may be written.
    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads up to `buf.len()` bytes at an offset; 0 at the end.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&mut self, offset_bytes: u64, buf: &mut [u8]) -> io::Result<usize>;
    /// Device, inode and length, and how many names the file has.
    ///
    /// # Errors
    /// What the system says.
    fn stat(&self) -> io::Result<(Metadata, u64)>;
    /// Makes what was written durable (fdatasync; F_FULLFSYNC on macOS).
    ///
    /// # Errors
    /// What the system says; what was written may be lost, and another sync would not tell.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts or extends the file; the same length releases reserved room.
    ///
    /// # Errors
    /// What the system says; the length is as it was.
    fn set_len(&mut self, len_bytes: u64) -> io::Result<()>;
    /// Reserves room from an offset on without changing the length.
    ///
    /// # Errors
    /// What the system says; `Unsupported` when the file system can't, `StorageFull` or
    /// `QuotaExceeded` when there is no room.
    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()>;
    /// Takes the exclusive lock if nobody has it.
    ///
    /// # Errors
    /// What the system says; somebody else having it is no error.
    fn try_lock(&mut self) -> io::Result<bool>;
    /// Takes a shared lock if nobody has the exclusive one; enough to ask, without being taken for
    /// a holder by somebody else who asks.
    ///
    /// # Errors
    /// What the system says; somebody else having it is no error.
    fn try_lock_shared(&mut self) -> io::Result<bool>;
}
