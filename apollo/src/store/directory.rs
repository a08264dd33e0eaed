//! [`Store`]: the directory itself: where it is, whether it is safe, what its disk is like.
//!
//! It is not a cache: what is in the directory is asked of the disk every time.
//!
//! **Invariant:** a store that was opened for reading never writes, not even a directory.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::{Disk, create_dirs};
use crate::id::NameError;

/// The name of the directory, where none is given.
const NAME: &str = ".apollo";

/// Less room than this is worth a warning.
const NEARLY_FULL_BYTES: u64 = 64 * 1024 * 1024;

/// The directory `.apollo`.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    /// Directories that this process knows to be durable.
    made: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// Why the store can't do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory could be changed by somebody else.
    #[error("the directory `{}` {why}; {remedy}", path.display())]
    Unsafe {
        /// The directory.
        path: PathBuf,
        /// What is unsafe.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// There is no such directory.
    #[error("there is no directory `{}`; run a task first, or name another one with --dir", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Something in the directory can't be read.
    #[error("can't read `{}`", path.display())]
    Read {
        /// What could not be read.
        path: PathBuf,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// Something in the directory can't be written.
    #[error(
        "can't write `{}`{}; mend the disk, then run again",
        path.display(),
        free_bytes.map(|free| format!(" ({} MiB free)", free / 1024 / 1024)).unwrap_or_default()
    )]
    Write {
        /// What could not be written.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// A file may not be called so.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl Store {
    /// Where the directory is: the one that was named, else the nearest one upward from `cwd`,
    /// else the one that will be made in `cwd`.
    #[must_use]
    pub(crate) fn locate(explicit: Option<&Path>, cwd: &Path, disk: &dyn Disk) -> PathBuf {
        if let Some(explicit) = explicit {
            return cwd.join(explicit);
        }
        let is_dir = |path: &PathBuf| disk.target(path).is_ok_and(|found| found.is_dir);
        let mut upward = cwd.ancestors().map(|dir| dir.join(NAME));
        upward.find(is_dir).unwrap_or_else(|| cwd.join(NAME))
    }

    /// Opens the directory to work in it; makes it, with mode 0700, where it is missing.
    ///
    /// # Errors
    /// [`StoreError::Unsafe`] when somebody else could change it; nothing was written.
    /// [`StoreError::Write`] when it can't be made.
    ///
    /// # Durability
    /// When it returns, the directory and `logs` in it survive a power cut.
    pub(crate) fn create(disk: Arc<dyn Disk>, root: &Path) -> Result<Self, StoreError> {
        let this = Self { disk, root: root.to_owned(), made: Arc::default() };
        for dir in [root.to_owned(), this.logs_dir()] {
            this.check_safe(&dir)?;
            this.ensure_dir(&dir)?;
        }
        for made_later in ["state", "artifacts", "output"] {
            this.check_safe(&root.join(made_later))?;
        }
        Ok(this)
    }

    /// Opens the directory to read what is in it.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when it is not there, [`StoreError::Read`] when that can't be told.
    pub(crate) fn open(disk: Arc<dyn Disk>, root: &Path) -> Result<Self, StoreError> {
        let path = || root.to_owned();
        match disk.target(root) {
            Ok(found) if found.is_dir => {}
            Ok(_) => {
                let source = io::ErrorKind::NotADirectory.into();
                return Err(StoreError::Read { path: path(), source });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::Missing { path: path() });
            }
            Err(source) => return Err(StoreError::Read { path: path(), source }),
        }
        Ok(Self { disk, root: root.to_owned(), made: Arc::default() })
    }

    /// Where the directory is.
    #[must_use]
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The disk that it is on.
    #[must_use]
    pub(crate) const fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// What a person should know about the place: each as one sentence.
    #[must_use]
    pub(crate) fn warnings(&self) -> Vec<String> {
        let root = self.root.display();
        let mut warnings = Vec::new();
        match self.disk.file_system(&self.root) {
            Ok(found) => {
                if found.in_memory {
                    warnings.push(format!(
                        "`{root}` is in memory (tmpfs): nothing in it survives a restart"
                    ));
                }
                if found.network {
                    warnings.push(format!(
                        "`{root}` is on a network or FUSE file system: locks and syncs may not hold \
                         there, so two processes may work on one run, and a crash may cost records"
                    ));
                }
                if found.free_bytes < NEARLY_FULL_BYTES {
                    let free_mib = found.free_bytes / 1024 / 1024;
                    warnings
                        .push(format!("the disk of `{root}` is nearly full ({free_mib} MiB free)"));
                }
            }
            Err(error) => warnings.push(format!("can't tell what disk `{root}` is on: {error}")),
        }
        let mut swept = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders"]
            .map(PathBuf::from)
            .into_iter()
            .chain([std::env::temp_dir()])
            .filter(|dir| dir.is_absolute());
        if swept.any(|dir| self.root.starts_with(dir)) {
            warnings.push(format!(
                "`{root}` is in a directory for temporary files, which the system may empty"
            ));
        }
        warnings
    }

    /// Refuses a directory of the store that somebody else could change; none is fine.
    fn check_safe(&self, path: &Path) -> Result<(), StoreError> {
        let read = |source| StoreError::Read { path: path.to_owned(), source };
        match self.disk.metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(read(error)),
            Ok(link) => {
                let found =
                    if link.is_symlink { self.disk.target(path).map_err(read)? } else { link };
                if !found.is_dir {
                    return Err(read(io::ErrorKind::NotADirectory.into()));
                }
                let user = self.disk.user();
                let other = [link.uid, found.uid].into_iter().find(|uid| *uid != user);
                if let Some(other) = other {
                    let kind = if link.is_symlink { "is a symbolic link that" } else { "" };
                    let why = format!("{kind} belongs to another user (uid {other})");
                    let remedy = "name another one with --dir".to_owned();
                    let why = why.trim_start().to_owned();
                    return Err(StoreError::Unsafe { path: path.to_owned(), why, remedy });
                }
                if found.mode & 0o022 != 0 {
                    let why = "can be written by other users".to_owned();
                    let remedy = format!("`chmod go-w {}` mends that", path.display());
                    return Err(StoreError::Unsafe { path: path.to_owned(), why, remedy });
                }
            }
        }
        Ok(())
    }

    /// Makes a directory of the store durably, once in this process.
    pub(super) fn ensure_dir(&self, path: &Path) -> Result<(), StoreError> {
        // Held while the directory is made: nobody may put anything into it before it is synced.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !made.contains(path) {
            create_dirs(&*self.disk, path).map_err(|source| self.write_error(path, source))?;
            made.insert(path.to_owned());
        }
        Ok(())
    }

    /// Makes a directory of the store for what need not survive a power cut.
    pub(super) fn make_dir(&self, path: &Path) -> io::Result<()> {
        match self.disk.create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && path != self.root => {
                self.make_dir(path.parent().unwrap_or(&self.root))?;
                self.disk.create_dir(path)
            }
            made => made,
        }
    }

    pub(super) fn write_error(&self, path: &Path, source: io::Error) -> StoreError {
        let free_bytes = self.disk.file_system(&self.root).ok().map(|found| found.free_bytes);
        StoreError::Write { path: path.to_owned(), free_bytes, source }
    }

    pub(super) fn logs_dir(&self) -> PathBuf {
        self.root.join("logs")
    }
}
