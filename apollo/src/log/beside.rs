//! What is kept beside a log before the log is changed: bytes of it, durable under another name.
//!
//! It is not the change: `seal` cuts, `repair` replaces.
//!
//! **Invariant:** what somebody kept before is never overwritten; the same bytes are not kept twice,
//! so whoever died after keeping them finds them again.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::digest::{Digest, Hasher};
use crate::disk::{AtomicFile, Disk, DiskFile, digest_of};

/// How much is copied at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// Keeps a range of a log under the first of `names` that is free, or that holds the same bytes.
/// `make` gives it the name where it is free; [`copy_beside`] always can.
///
/// # Errors
/// What the disk says; a name may have been given.
///
/// # Durability
/// When it returns, the name, and what [`copy_beside`] wrote, survive a power cut.
pub(super) fn keep(
    disk: &dyn Disk,
    log: &mut dyn DiskFile,
    range_bytes: Range<u64>,
    mut names: impl Iterator<Item = PathBuf>,
    make: &mut dyn FnMut(&mut dyn DiskFile, &Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let log_id = log.stat()?.0.id;
    let len_bytes = range_bytes.end.saturating_sub(range_bytes.start);
    let mut digest = None;
    let kept = loop {
        let name = names.next().ok_or(io::ErrorKind::AlreadyExists)?;
        match disk.metadata(&name) {
            Ok(found) if found.id == log_id => break name,
            Ok(found) if found.len == len_bytes => {
                let wanted = match digest {
                    Some(digest) => digest,
                    None => *digest.insert(digest_range(log, range_bytes.clone())?),
                };
                if digest_of(disk, &name)? == (wanted, len_bytes) {
                    break name;
                }
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(log, &name)?;
                break name;
            }
            Err(error) => return Err(error),
        }
    };
    disk.sync_dir(kept.parent().unwrap_or(&kept))?;
    Ok(kept)
}

/// Copies a range of a log to a file beside it, whole or not at all.
///
/// # Errors
/// What the disk says; nothing has the name.
///
/// # Durability
/// The bytes are durable, the name not yet.
pub(super) fn copy_beside(
    disk: &dyn Disk,
    log: &mut dyn DiskFile,
    range_bytes: Range<u64>,
    to: &Path,
) -> io::Result<()> {
    let mut file = AtomicFile::create(disk, to)?;
    each_chunk(log, range_bytes, &mut |chunk| file.write(chunk))?;
    file.place()
}

/// Digests a range of a log.
///
/// # Errors
/// What the disk says; also when the range reaches beyond the end.
pub(super) fn digest_range(log: &mut dyn DiskFile, range_bytes: Range<u64>) -> io::Result<Digest> {
    let mut hasher = Hasher::default();
    each_chunk(log, range_bytes, &mut |chunk| {
        hasher.update(chunk);
        Ok(())
    })?;
    Ok(hasher.finish())
}

/// Hands out a range of a log piece by piece.
///
/// # Errors
/// What the disk or `each` says; also when the range reaches beyond the end.
pub(super) fn each_chunk(
    log: &mut dyn DiskFile,
    range_bytes: Range<u64>,
    each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut chunk = Vec::new();
    let mut from_bytes = range_bytes.start;
    while from_bytes < range_bytes.end {
        read_some(log, from_bytes..range_bytes.end, &mut chunk)?;
        each(&chunk)?;
        from_bytes += chunk.len() as u64;
    }
    Ok(())
}

/// Writes a range of a log once more, with the bytes that it has: after a failed sync the page cache
/// may show what the disk lacks, and another sync would not bring it there.
///
/// # Errors
/// What the disk says; the log holds the same bytes as before.
///
/// # Durability
/// The range is durable after the next sync.
pub(super) fn write_again(log: &mut dyn DiskFile, range_bytes: Range<u64>) -> io::Result<()> {
    let mut again = Vec::new();
    let mut from_bytes = range_bytes.start;
    while from_bytes < range_bytes.end {
        read_some(log, from_bytes..range_bytes.end, &mut again)?;
        log.write_at(from_bytes, &again)?;
        from_bytes += again.len() as u64;
    }
    Ok(())
}

/// Reads at least one byte of a range.
fn read_some(
    log: &mut dyn DiskFile,
    range_bytes: Range<u64>,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    let left = range_bytes.end.saturating_sub(range_bytes.start);
    into.resize(usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK_BYTES), 0);
    let read = log.read_at(range_bytes.start, into)?;
    into.truncate(read);
    if into.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
