//! Whole files: read at once, written so that a reader sees the old one or the new one, and
//! directories that are durable when they are used.
//!
//! It is not a buffer: what is written goes to the temporary file at once.
//!
//! **Invariant:** a directory is made, and its parent synced, before anything is put into it, so
//! a directory that holds something is durable.

use std::io;
use std::path::{Path, PathBuf};

use super::{Disk, DiskFile, Open};
use crate::digest::{Digest, Hasher};

/// How much is read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// A file that replaces another one when it is placed, and leaves nothing when it is dropped.
#[derive(Debug)]
pub(crate) struct AtomicFile<'a> {
    disk: &'a dyn Disk,
    path: &'a Path,
    /// The temporary file beside `path`.
    temp: PathBuf,
    /// `None` once it has been placed.
    file: Option<Box<dyn DiskFile>>,
    /// Whether all that was written is durable.
    synced: bool,
}

impl<'a> AtomicFile<'a> {
    /// Begins a file that will be called `path`; only one at a time may be written there.
    ///
    /// # Errors
    /// What the disk says; nothing was created.
    pub(crate) fn create(disk: &'a dyn Disk, path: &'a Path) -> io::Result<Self> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
        let temp = path.with_file_name(format!(".{name}.tmp"));
        let file = match disk.open(&temp, Open::CreateNew) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A process that died left it: whoever writes here holds the lock of the run.
                disk.remove_file(&temp)?;
                disk.open(&temp, Open::CreateNew)?
            }
            opened => opened?,
        };
        Ok(Self { disk, path, temp, file: Some(file), synced: false })
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// What the disk says; the file called `path` is as it was.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.synced = false;
        self.file.as_mut().map_or(Ok(()), |file| file.append(bytes))
    }

    /// Makes durable what was written, where something else has to be done before it is placed.
    ///
    /// # Errors
    /// What the disk says; the file called `path` is as it was.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.as_mut().filter(|_| !self.synced) {
            file.sync()?;
            self.synced = true;
        }
        Ok(())
    }

    /// Syncs the content, if that was not done, and gives the file its name.
    ///
    /// # Errors
    /// What the disk says; the file called `path` is as it was.
    ///
    /// # Durability
    /// The content is durable; the name only after [`Disk::sync_dir`].
    pub(crate) fn place(mut self) -> io::Result<()> {
        self.sync()?;
        if self.file.is_some() {
            self.disk.rename(&self.temp, self.path)?;
            self.file = None;
        }
        Ok(())
    }
}

impl Drop for AtomicFile<'_> {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // The file is rubbish by now; what made it so has been reported.
            drop(self.disk.remove_file(&self.temp));
        }
    }
}

/// Writes a file so that a reader, and a crash, sees the old one or the new one, never a part.
///
/// # Errors
/// What the disk says. The old file is there as it was, unless it was the directory's sync that
/// failed: then it may be either.
///
/// # Durability
/// When it returns, the content and the name survive a power cut.
pub(crate) fn write_atomic(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(disk, path)?;
    file.write(bytes)?;
    file.place()?;
    disk.sync_dir(parent(path))
}

/// Reads a whole file.
///
/// # Errors
/// What the disk says.
pub(crate) fn read_all(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    each_chunk(disk, path, &mut |chunk| bytes.extend_from_slice(chunk))?;
    Ok(bytes)
}

/// Digests a file, however long it is, and tells its length in bytes.
///
/// # Errors
/// What the disk says.
pub(crate) fn digest_of(disk: &dyn Disk, path: &Path) -> io::Result<(Digest, u64)> {
    let (mut hasher, mut len_bytes) = (Hasher::default(), 0);
    each_chunk(disk, path, &mut |chunk| {
        hasher.update(chunk);
        len_bytes += chunk.len() as u64;
    })?;
    Ok((hasher.finish(), len_bytes))
}

/// Makes a directory, and those above it that are missing, with mode 0700.
///
/// # Errors
/// What the disk says, with some of the levels made.
///
/// # Durability
/// When it returns, the directory survives a power cut. One that was there, but empty, may be the
/// work of a process that died before it could sync it, so its parent is synced again.
pub(crate) fn create_dirs(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.target(path) {
        Ok(found) if !found.is_dir => return Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) if !disk.list(path)?.is_empty() => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !parent(path).as_os_str().is_empty() {
                create_dirs(disk, parent(path))?;
            }
            match disk.create_dir(path) {
                // Somebody else was faster; whether it is durable is not known.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        Err(error) => return Err(error),
    }
    disk.sync_dir(parent(path))
}

/// The directory that a path is in; a bare name is in the working directory.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

fn each_chunk(disk: &dyn Disk, path: &Path, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut file = disk.open(path, Open::Read)?;
    let len_bytes = usize::try_from(file.stat()?.0.len).unwrap_or(usize::MAX);
    // One byte more than there should be, so that the end is seen with the first read.
    let mut buf = vec![0; len_bytes.saturating_add(1).min(CHUNK_BYTES)];
    let mut offset_bytes = 0;
    loop {
        let read = file.read_at(offset_bytes, &mut buf)?;
        let Some(chunk) = buf.get(..read).filter(|chunk| !chunk.is_empty()) else { return Ok(()) };
        each(chunk);
        offset_bytes += chunk.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustix::io::Errno;

    use super::*;
    use crate::disk::{CrashDisk, Fault, RealDisk, TempDir};

    #[test]
    fn a_file_is_the_old_one_or_the_new_one_and_leaves_no_other() {
        for fault in [Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short, Fault::Dead]
        {
            let mut met = 0;
            for at in 1.. {
                let dir = TempDir::new();
                let path = dir.path().join("x.json");
                write_atomic(&RealDisk, &path, b"old").unwrap();
                let crash = CrashDisk::new(Arc::new(RealDisk), at, fault);
                let written = write_atomic(&crash, &path, b"newer");
                let text = read_all(&RealDisk, &path).unwrap();
                assert!(text == b"old" || text == b"newer", "{fault:?} at {at}: {text:?}");
                assert!(written.is_err() || text == b"newer", "{fault:?} at {at}");
                assert!(fault == Fault::Dead || dir.files().len() == 1, "{fault:?} at {at}");
                // What a dead process left is in nobody's way.
                write_atomic(&RealDisk, &path, b"newest").unwrap();
                assert_eq!(dir.files(), [("x.json".to_owned(), b"newest".to_vec())]);
                if written.is_ok() {
                    break;
                }
                met += 1;
            }
            assert_eq!(met, 5, "create, write, sync, rename, sync of the directory");
        }
    }

    #[test]
    fn a_directory_is_synced_by_its_parent_before_it_is_used() {
        let dir = TempDir::new();
        write_atomic(&RealDisk, &dir.path().join("not empty"), b"").unwrap();
        let path = dir.path().join("a/b/c");
        let syncs_of = |fault_at| {
            let crash = CrashDisk::new(Arc::new(RealDisk), fault_at, Fault::Dead);
            (create_dirs(&crash, &path).is_ok(), crash.syncs())
        };
        // Dies after it made `a`, before it synced it: `a` is there and empty.
        assert_eq!(syncs_of(2), (false, 0));
        assert_eq!(syncs_of(0), (true, 3));
        assert_eq!(syncs_of(0), (true, 1), "it is empty, so whether it is durable is not known");
        write_atomic(&RealDisk, &path.join("x"), b"").unwrap();
        assert_eq!(syncs_of(0), (true, 0));
        assert!(create_dirs(&RealDisk, &path.join("x")).is_err(), "a file is no directory");
    }

    #[test]
    fn a_long_file_is_read_and_digested_in_pieces() {
        let dir = TempDir::new();
        for len in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            let bytes: Vec<u8> = (0..len).map(|n| u8::try_from(n % 251).unwrap()).collect();
            let path = dir.path().join("x");
            write_atomic(&RealDisk, &path, &bytes).unwrap();
            assert!(read_all(&RealDisk, &path).unwrap() == bytes, "{len}");
            assert_eq!(digest_of(&RealDisk, &path).unwrap(), (Digest::of(&bytes), len as u64));
        }
    }
}
