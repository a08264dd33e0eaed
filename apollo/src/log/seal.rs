//! Sealing: what makes a log that was found one that can be appended to.
//!
//! It is not the repair of a corrupt log, which `reader` refuses: a valid record is never cut.
//!
//! **Invariant:** nothing is cut before a copy of it is durable, and nothing is appended before
//! every record in front of it is. Sealing again, after any crash, ends with the same bytes.

use std::io;
use std::path::{Path, PathBuf};

use super::file::{LogError, LogFile};
use super::reader::{Locked, Scan, Tail, UnsealedLog};
use super::writer::LogWriter;
use crate::digest::Hasher;
use crate::disk::{AtomicFile, Disk, DiskFile, digest_of};

/// How much is copied at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// A torn tail that was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedTail {
    /// Where its bytes are kept.
    pub kept: PathBuf,
    /// Where it began in the log.
    pub offset_bytes: u64,
    /// Its length.
    pub bytes: u64,
    /// Why its first line is no record.
    pub why: String,
}

impl UnsealedLog<Locked> {
    /// Keeps a torn tail beside the log and cuts it off, writes the records that are not known to
    /// be synced once more, and releases room that a dead process reserved.
    ///
    /// The second writing is needed because after a failed fsync the page cache may show what the
    /// disk lacks.
    ///
    /// # Errors
    /// [`LogError::Seal`]: the log holds the same valid records as before; a torn tail is still in
    /// it, or kept beside it.
    ///
    /// # Durability
    /// When it returns, every record of the scan, and the name of the log, survive a power cut.
    pub(crate) fn seal(
        mut self,
        scan: Scan,
    ) -> Result<(LogWriter, LogFile, Option<SealedTail>), LogError> {
        let sealed = self.try_seal(&scan);
        let sealed = sealed.map_err(|source| LogError::Seal {
            path: self.path.clone(),
            free_bytes: super::file::free_bytes(&*self.disk, &self.path),
            source,
        })?;
        let writer = LogWriter::after(&self.path, &scan);
        let file = LogFile::after(self, &scan)?;
        Ok((writer, file, sealed))
    }

    fn try_seal(&mut self, scan: &Scan) -> io::Result<Option<SealedTail>> {
        let mut sealed = None;
        if let Tail::Torn { offset_bytes, bytes, why } = &scan.tail {
            let kept = self.keep(*offset_bytes, *bytes)?;
            let (offset_bytes, bytes, why) = (*offset_bytes, *bytes, why.clone());
            sealed = Some(SealedTail { kept, offset_bytes, bytes, why });
        }
        self.file.set_len(scan.end_bytes)?;
        let mut from_bytes = scan.durable_end_bytes;
        let mut again = Vec::new();
        while from_bytes < scan.end_bytes {
            read_some(&mut *self.file, from_bytes, scan.end_bytes, &mut again)?;
            self.file.write_at(from_bytes, &again)?;
            from_bytes += again.len() as u64;
        }
        self.file.sync()?;
        // A process that died in its first commit may not have come to this.
        self.disk.sync_dir(self.path.parent().unwrap_or(&self.path))?;
        Ok(sealed)
    }

    /// Copies the end of the log to a file beside it, which is durable afterwards. The copy that a
    /// sealing made before it died is taken as it is; another tail's copy is left alone.
    fn keep(&mut self, offset_bytes: u64, bytes: u64) -> io::Result<PathBuf> {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or("log");
        let end_bytes = offset_bytes.saturating_add(bytes);
        let dir = self.path.parent().unwrap_or(&self.path);
        let mut hasher = Hasher::default();
        copy(&mut *self.file, offset_bytes, end_bytes, &mut |chunk| {
            hasher.update(chunk);
            Ok(())
        })?;
        let wanted = (hasher.finish(), bytes);
        let mut n = 0_u32;
        let kept = loop {
            let again = if n == 0 { String::new() } else { format!(".{n}") };
            let kept = self.path.with_file_name(format!("{name}.torn-{offset_bytes}{again}"));
            match digest_of(&*self.disk, &kept) {
                Ok(found) if found == wanted => break kept,
                Ok(_) => n += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    write_copy(&*self.disk, &mut *self.file, &kept, offset_bytes..end_bytes)?;
                    break kept;
                }
                Err(error) => return Err(error),
            }
        };
        self.disk.sync_dir(dir)?;
        Ok(kept)
    }
}

fn write_copy(
    disk: &dyn Disk,
    log: &mut dyn DiskFile,
    kept: &Path,
    range_bytes: std::ops::Range<u64>,
) -> io::Result<()> {
    let mut file = AtomicFile::create(disk, kept)?;
    copy(log, range_bytes.start, range_bytes.end, &mut |chunk| file.write(chunk))?;
    file.place()
}

/// Hands out a range of a file piece by piece.
fn copy(
    file: &mut dyn DiskFile,
    mut from_bytes: u64,
    end_bytes: u64,
    each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut chunk = Vec::new();
    while from_bytes < end_bytes {
        read_some(file, from_bytes, end_bytes, &mut chunk)?;
        each(&chunk)?;
        from_bytes += chunk.len() as u64;
    }
    Ok(())
}

/// Reads at least one byte of a range.
fn read_some(
    file: &mut dyn DiskFile,
    from_bytes: u64,
    end_bytes: u64,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    let left = usize::try_from(end_bytes - from_bytes).unwrap_or(usize::MAX);
    into.resize(left.min(CHUNK_BYTES), 0);
    let read = file.read_at(from_bytes, into)?;
    into.truncate(read);
    if into.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
