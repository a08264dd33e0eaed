//! [`SimFile`]: an open file of a simulated process.
//!
//! It is not where its bytes are: several openings may be of one file.

use std::io;
use std::path::{Path, PathBuf};

use super::SimDisk;
use super::inode::Lock;
use super::machine::Opened;
use crate::disk::hook::Course;
use crate::disk::operation::{Op, Operation};
use crate::disk::{DiskFile, Metadata};

/// An open file.
#[derive(Debug)]
pub(super) struct SimFile {
    disk: SimDisk,
    path: PathBuf,
    opened: Opened,
}

impl SimFile {
    pub(super) fn new(disk: SimDisk, path: &Path, opened: Opened) -> Self {
        Self { disk, path: path.to_owned(), opened }
    }

    fn write(&self, what: Op, at: Option<u64>, bytes: &[u8]) -> io::Result<()> {
        let operation = Operation::writing(what, &self.path, bytes);
        let (mut machine, course) = self.disk.begin(&operation)?;
        match course {
            Course::Through | Course::Skip => machine.write(self.opened.ino, at, bytes),
            Course::Half(error) => {
                machine.write(self.opened.ino, at, operation.first_half()).and(Err(error))
            }
            Course::Fail(error) => Err(error),
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
        let (mut machine, course) = self.disk.begin(&Operation::on(Op::Sync, &self.path))?;
        match course {
            Course::Through | Course::Skip => machine.sync(self.opened.ino),
            Course::Fail(error) | Course::Half(error) => {
                machine.fail_sync(self.opened.ino);
                return Err(error);
            }
        }
        Ok(())
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        let operation = Operation::sizing(Op::SetLen, &self.path, len_bytes);
        self.disk.whole(&operation)?.set_len(self.opened.ino, len_bytes)
    }

    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let operation = Operation::sizing(Op::Reserve, &self.path, len_bytes);
        self.disk.whole(&operation)?.reserve(self.opened.ino, offset_bytes, len_bytes)
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        Ok(self.disk.alive()?.lock(self.opened, Lock::Exclusive))
    }

    fn try_lock_shared(&mut self) -> io::Result<bool> {
        Ok(self.disk.alive()?.lock(self.opened, Lock::Shared))
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.disk.look().close(self.opened);
    }
}
