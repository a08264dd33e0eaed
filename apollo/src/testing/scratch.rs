//! [`Scratch`]: the directory in which a task is run again and again, among the temporary files.
//!
//! It is not one directory for each run: its path is part of what a step may return.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::disk::{Disk as _, RealDisk};

/// A directory that is removed with everything in it when it is dropped, unless it is kept.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    kept: AtomicBool,
}

impl Scratch {
    /// Finds a name that nobody else in this process has.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("apollo-everywhere-{}-{number}", std::process::id());
        Self { path: std::env::temp_dir().join(name), kept: AtomicBool::new(false) }
    }

    /// Makes it anew, with nothing in it.
    ///
    /// # Errors
    /// What the disk says, with the directory.
    pub(super) fn renew(&self) -> Result<(), (PathBuf, io::Error)> {
        let renewed = match RealDisk.remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => RealDisk.create_dir(&self.path),
        };
        renewed.map_err(|error| (self.path.clone(), error))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it to a person to remove.
    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept.load(Ordering::Relaxed) {
            drop(RealDisk.remove_dir_all(&self.path));
        }
    }
}
