//! Repair: what makes a damaged log one that can be gone on with.
//!
//! It is not the judgement of the damage, nor what it costs: that is `damage`. It is not the seal
//! of a torn tail either, which loses nothing that was promised, and needs nobody's word.
//!
//! **Invariant:** at every moment the log's name holds the whole damaged log or the whole repaired
//! one, and nothing of the damaged one is ever thrown away. Repairing again, after any crash, ends
//! with the same bytes under the same names. Where nothing but the snapshot told of the damage, a
//! repair that dies when it has moved that away leaves what looks like a torn tail, or a shorter
//! log: the next run then goes on from the same records by itself.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::beside::{copy_beside, each_chunk, keep, write_again};
use super::file::{LogError, free_bytes};
use super::reader::{Locked, UnsealedLog};
use super::snapshot::Snapshot;
use crate::disk::AtomicFile;

impl UnsealedLog<Locked> {
    /// Puts the first bytes of the log in its place, as a new file, and keeps the old one beside it
    /// as `<log>.corrupt-<n>`, with the snapshot that was made of it.
    ///
    /// # Errors
    /// [`LogError::Repair`]: the log is what it was, or it is repaired already.
    ///
    /// # Durability
    /// When it returns, the repaired log and the one that is kept survive a power cut.
    pub(crate) fn repair(mut self, good_bytes: u64) -> Result<PathBuf, LogError> {
        self.try_repair(good_bytes).map_err(|source| self.error(source))
    }

    /// Makes the name of a log durable that is not damaged: a repair that died may have put it
    /// there, and not have come to this.
    ///
    /// # Errors
    /// [`LogError::Repair`]: the log is what it was.
    ///
    /// # Durability
    /// When it returns, the log survives a power cut under its name.
    pub(crate) fn settle(self) -> Result<(), LogError> {
        let dir = self.path.parent().unwrap_or(&self.path);
        self.disk.sync_dir(dir).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> LogError {
        let free_bytes = free_bytes(&*self.disk, &self.path);
        LogError::Repair { path: self.path.clone(), free_bytes, source }
    }

    fn try_repair(&mut self, good_bytes: u64) -> io::Result<PathBuf> {
        let (disk, path) = (Arc::clone(&self.disk), self.path.clone());
        let dir = path.parent().unwrap_or(&path);
        let mut repaired = AtomicFile::create(&*disk, &path)?;
        each_chunk(&mut *self.file, 0..good_bytes, &mut |chunk| repaired.write(chunk))?;
        // Before anything gets another name: where there is no room, nothing has changed.
        repaired.sync()?;
        // The process that wrote the last records, or cut off others, may have failed to sync that,
        // and somebody may have copied the damaged log here a moment ago.
        let len_bytes = self.file.stat()?.0.len;
        self.file.set_len(len_bytes)?;
        write_again(&mut *self.file, good_bytes..len_bytes)?;
        self.file.sync()?;
        let kept = self.keep_whole()?;
        // A snapshot stands for records that the repaired log may lack. Until now it may have been
        // all that told that they were there, so it goes last, and to where the old log is.
        match disk.rename(&Snapshot::path(&path), &Snapshot::path(&kept)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            moved => {
                moved?;
                disk.sync_dir(dir)?;
            }
        }
        repaired.place()?;
        disk.sync_dir(dir)?;
        Ok(kept)
    }

    /// Gives the whole log a second name, or copies it where the file system has no second names.
    fn keep_whole(&mut self) -> io::Result<PathBuf> {
        let (disk, path) = (&*self.disk, &*self.path);
        let range_bytes = 0..self.file.stat()?.0.len;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let names = (0_u64..).map(|n| path.with_file_name(format!("{name}.corrupt-{n}")));
        keep(disk, &mut *self.file, range_bytes.clone(), names, &mut |log, to| match disk
            .hard_link(path, to)
        {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                copy_beside(disk, log, range_bytes.clone(), to)
            }
            linked => linked,
        })
    }
}
