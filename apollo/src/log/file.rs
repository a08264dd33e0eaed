//! [`LogFile`]: the log on the disk, open, locked and ready to be appended to.
//!
//! It is not the maker of records: a [`Batch`] comes from [`LogWriter`]. It is used by one thread
//! at a time, the leader of the commit.
//!
//! **Invariant:** after a failed write or sync, or when its name is another file's, nothing is
//! ever written through it again: what the disk holds is then found out by the next recovery.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reader::{Locked, Scan, UnsealedLog};
use super::writer::{Batch, LogWriter};
use crate::disk::{AtomicFile, Disk, DiskFile, Open};
use crate::record::{LINE_BYTES_MAX, Spill};

/// The room for one line.
const LINE_ROOM_BYTES: u64 = LINE_BYTES_MAX as u64 + 1;

/// How much room is reserved at once, so that it is asked for rarely.
const RESERVE_BYTES: u64 = 1024 * 1024;

/// A log that can be appended to. Dropping it releases its lock.
#[derive(Debug)]
pub(crate) struct LogFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    /// Device and inode.
    id: (u64, u64),
    /// The log's length.
    end_bytes: u64,
    /// Up to where room is reserved.
    reserved_end_bytes: u64,
    /// Whether the file system can reserve room.
    reserves: bool,
    /// Whether its directory has been synced since it was created.
    named: bool,
    /// Whether a write or a sync has failed.
    poisoned: bool,
    warnings: Vec<String>,
}

/// Why the log can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A new log could not be created.
    #[error("can't create the log `{}`{}", path.display(), told(*free_bytes))]
    Create {
        /// The log.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// Somebody locked a log that was just created.
    #[error("the log `{}` is locked: another process works on this run", path.display())]
    Locked {
        /// The log.
        path: PathBuf,
    },
    /// A log that was found could not be made ready.
    #[error("can't recover the log `{}`{}; nothing in it is lost", path.display(), told(*free_bytes))]
    Seal {
        /// The log.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// A damaged log could not be repaired.
    #[error(
        "can't repair the log `{}`{}; it is what it was, or repaired already: mend the disk, then \
         repair again",
        path.display(), told(*free_bytes)
    )]
    Repair {
        /// The log.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// The log is no longer what its name stands for, or has another length.
    #[error(
        "the log `{}` {what} while it was written; see that nothing but apollo touches it, \
         then run again",
        path.display()
    )]
    Changed {
        /// The log.
        path: PathBuf,
        /// What happened to it.
        what: &'static str,
    },
    /// There is no room for the records that will follow this batch.
    #[error("no room for the log `{}`{}; make room, then run again", path.display(), told(*free_bytes))]
    NoRoom {
        /// The log.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// Records, or a file that belongs to them, could not be written.
    #[error("can't write `{}`{}; mend the disk, then run again", path.display(), told(*free_bytes))]
    Write {
        /// The log, or the file beside it.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// What was written could not be made durable.
    #[error("can't sync `{}`{}; mend the disk, then run again", path.display(), told(*free_bytes))]
    Sync {
        /// The log, or its directory.
        path: PathBuf,
        /// What is free on its disk.
        free_bytes: Option<u64>,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// A write or a sync has failed before.
    #[error("the log `{}` can't be written any more, because writing it failed before", path.display())]
    Poisoned {
        /// The log.
        path: PathBuf,
    },
}

impl LogFile {
    /// Creates a log that does not exist yet, and locks it.
    ///
    /// # Errors
    /// [`LogError::Create`] also when the file is already there; it is as it was. In other cases
    /// an empty file may be left, which is a run that never began.
    ///
    /// # Durability
    /// The name is made durable by the first commit.
    pub(crate) fn create(disk: &Arc<dyn Disk>, path: &Path) -> Result<(LogWriter, Self), LogError> {
        let create = |source| LogError::Create {
            path: path.to_owned(),
            free_bytes: free_bytes(&**disk, path),
            source,
        };
        let mut file = disk.open(path, Open::CreateNew).map_err(create)?;
        if !file.try_lock().map_err(create)? {
            return Err(LogError::Locked { path: path.to_owned() });
        }
        let this = Self::with(disk, path, file, 0, false).map_err(create)?;
        Ok((LogWriter::new(path), this))
    }

    /// Goes on with a log that was sealed.
    pub(super) fn after(log: UnsealedLog<Locked>, scan: &Scan) -> Result<Self, LogError> {
        let UnsealedLog { disk, path, file, .. } = log;
        Self::with(&disk, &path, file, scan.end_bytes, true).map_err(|source| LogError::Seal {
            free_bytes: free_bytes(&*disk, &path),
            path,
            source,
        })
    }

    fn with(
        disk: &Arc<dyn Disk>,
        path: &Path,
        file: Box<dyn DiskFile>,
        end_bytes: u64,
        named: bool,
    ) -> io::Result<Self> {
        let (metadata, _names) = file.stat()?;
        let mut warnings = Vec::new();
        // What can't be told is no reason to refuse.
        if disk.file_system(path).is_ok_and(|found| found.copy_on_write) {
            warnings.push(format!(
                "`{}` is on a file system that writes in new places (btrfs): if the disk fills up, \
                 the record of a finished step may be lost, and the step runs again",
                path.display()
            ));
        }
        Ok(Self {
            disk: Arc::clone(disk),
            path: path.to_owned(),
            file,
            id: metadata.id,
            end_bytes,
            reserved_end_bytes: end_bytes,
            reserves: true,
            named,
            poisoned: false,
            warnings,
        })
    }

    /// Writes a batch with one append, after making sure that `reserve_lines` more lines, and a
    /// closing one, will find room. It is synced when the batch needs it or `force_sync` says so,
    /// and tells whether it was.
    ///
    /// # Errors
    /// [`LogError::NoRoom`]: nothing of the batch is in the log and nothing is poisoned;
    /// [`Self::commit_within_room`] still takes it. All others poison: after
    /// [`LogError::Changed`] nothing of the batch was written, after [`LogError::Write`] a torn
    /// part of it may be in the log, after [`LogError::Sync`] all of it may be there without being
    /// durable. The next recovery sorts that out.
    ///
    /// # Durability
    /// When it returns `true`, this batch and everything before it survives a power cut; when it
    /// returns `false`, the end of this process.
    pub(crate) fn commit(
        &mut self,
        batch: &Batch,
        force_sync: bool,
        reserve_lines: u32,
    ) -> Result<bool, LogError> {
        self.check()?;
        if !batch.is_empty() {
            self.reserve(batch.bytes.len() as u64, reserve_lines)?;
        }
        self.write(batch, force_sync)
    }

    /// Writes a batch into the room that was reserved before: for one that [`Self::commit`]
    /// refused with [`LogError::NoRoom`]. The body of a step that starts in it must not run, since
    /// there may be no room for its end.
    ///
    /// # Errors
    /// As [`Self::commit`], without [`LogError::NoRoom`].
    ///
    /// # Durability
    /// As [`Self::commit`].
    pub(crate) fn commit_within_room(
        &mut self,
        batch: &Batch,
        force_sync: bool,
    ) -> Result<bool, LogError> {
        self.check()?;
        self.write(batch, force_sync)
    }

    #[cfg(test)]
    /// Makes everything that was written durable. The writer learns of it only by an empty batch:
    /// `commit(&writer.take(), true, 0)`.
    ///
    /// # Errors
    /// [`LogError::Sync`], which poisons; what was written may be lost by a power cut.
    pub(crate) fn sync(&mut self) -> Result<(), LogError> {
        self.check()?;
        self.sync_file()
    }

    /// Releases the reserved room and the lock.
    ///
    /// # Errors
    /// [`LogError::Write`] when the room can't be released, [`LogError::Changed`] when the file has
    /// another length; it is never shortened.
    pub(crate) fn close(mut self) -> Result<(), LogError> {
        if self.poisoned || self.reserved_end_bytes <= self.end_bytes {
            return Ok(());
        }
        self.check()?;
        self.file.set_len(self.end_bytes).map_err(|source| self.write_error(&self.path, source))
    }

    /// What a person should know about this log's file system, and was not told yet; a commit may
    /// find out more.
    #[must_use]
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Makes sure that the file can be written and is still what its name stands for.
    fn check(&mut self) -> Result<(), LogError> {
        if self.poisoned {
            return Err(LogError::Poisoned { path: self.path.clone() });
        }
        let what = match self.disk.metadata(&self.path) {
            Ok(found) if found.id != self.id => "was replaced by another file",
            Ok(found) if found.len < self.end_bytes => "was shortened by somebody else",
            Ok(found) if found.len > self.end_bytes => "was written by somebody else",
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "was removed or renamed",
            Err(source) => {
                self.poisoned = true;
                return Err(self.write_error(&self.path, source));
            }
        };
        self.poisoned = true;
        Err(LogError::Changed { path: self.path.clone(), what })
    }

    /// Reserves room for a batch, the lines that will follow it, and a closing one.
    fn reserve(&mut self, batch_bytes: u64, lines: u32) -> Result<(), LogError> {
        let after_bytes = batch_bytes + LINE_ROOM_BYTES * (u64::from(lines) + 1);
        let wanted_end_bytes = self.end_bytes + after_bytes;
        let missing = wanted_end_bytes.saturating_sub(self.reserved_end_bytes);
        if !self.reserves || missing == 0 {
            return Ok(());
        }
        let from_bytes = self.reserved_end_bytes;
        let mut len_bytes = missing.max(RESERVE_BYTES);
        let mut reserved = self.file.reserve(from_bytes, len_bytes);
        if len_bytes > missing && reserved.as_ref().is_err_and(is_full) {
            len_bytes = missing;
            reserved = self.file.reserve(from_bytes, len_bytes);
        }
        match reserved {
            Ok(()) => self.reserved_end_bytes = from_bytes + len_bytes,
            Err(source) if is_full(&source) => {
                let free_bytes = free_bytes(&*self.disk, &self.path);
                return Err(LogError::NoRoom { path: self.path.clone(), free_bytes, source });
            }
            Err(error) => {
                self.reserves = false;
                self.warnings.push(format!(
                    "no room can be reserved for `{}` ({error}): if the disk fills up, the record \
                     of a finished step may be lost, and the step runs again",
                    self.path.display()
                ));
            }
        }
        Ok(())
    }

    fn write(&mut self, batch: &Batch, force_sync: bool) -> Result<bool, LogError> {
        for spill in &batch.spills {
            self.write_spill(spill)?;
        }
        // The first commit syncs the directory once, for the log as well.
        if !batch.spills.is_empty() && self.named {
            self.sync_dir()?;
        }
        if !batch.is_empty() {
            self.file.append(&batch.bytes).map_err(|source| {
                self.poisoned = true;
                write_error(&*self.disk, &self.path, source)
            })?;
            self.end_bytes += batch.bytes.len() as u64;
        }
        let sync = force_sync || batch.needs_sync() || !self.named;
        if sync {
            self.sync_file()?;
        }
        Ok(sync)
    }

    fn write_spill(&mut self, spill: &Spill) -> Result<(), LogError> {
        let path = self.path.with_file_name(&spill.name);
        let written = AtomicFile::create(&*self.disk, &path).and_then(|mut file| {
            file.write(&spill.bytes)?;
            file.place()
        });
        written.map_err(|source| {
            self.poisoned = true;
            self.write_error(&path, source)
        })
    }

    fn sync_file(&mut self) -> Result<(), LogError> {
        if let Err(source) = self.file.sync() {
            return Err(self.sync_error(self.path.clone(), source));
        }
        if self.named { Ok(()) } else { self.sync_dir() }
    }

    fn sync_dir(&mut self) -> Result<(), LogError> {
        let dir = self.path.parent().unwrap_or(&self.path).to_owned();
        if let Err(source) = self.disk.sync_dir(&dir) {
            return Err(self.sync_error(dir, source));
        }
        self.named = true;
        Ok(())
    }

    fn sync_error(&mut self, path: PathBuf, source: io::Error) -> LogError {
        self.poisoned = true;
        LogError::Sync { free_bytes: free_bytes(&*self.disk, &path), path, source }
    }

    fn write_error(&self, path: &Path, source: io::Error) -> LogError {
        write_error(&*self.disk, path, source)
    }
}

fn write_error(disk: &dyn Disk, path: &Path, source: io::Error) -> LogError {
    LogError::Write { path: path.to_owned(), free_bytes: free_bytes(disk, path), source }
}

/// What is free on the disk that a file is on, where that can be told.
pub(super) fn free_bytes(disk: &dyn Disk, path: &Path) -> Option<u64> {
    let dir = path.parent().unwrap_or(path);
    disk.file_system(dir).ok().map(|found| found.free_bytes)
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn told(free_bytes: Option<u64>) -> String {
    free_bytes.map(|bytes| format!(" ({} MiB free)", bytes / 1024 / 1024)).unwrap_or_default()
}
