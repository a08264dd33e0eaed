//! Sealing: what makes a log that was found one that can be appended to.
//!
//! It is not the repair of a corrupt log, which `reader` refuses: a valid record is never cut.
//!
//! **Invariant:** nothing is cut before a copy of it is durable, and nothing is appended before
//! every record in front of it is. Sealing again, after any crash, ends with the same bytes.

use std::io;
use std::path::PathBuf;

use super::beside::{copy_beside, keep, write_again};
use super::file::{LogError, LogFile};
use super::reader::{Locked, Scan, Tail, UnsealedLog};
use super::writer::LogWriter;

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
        write_again(&mut *self.file, scan.durable_end_bytes..scan.end_bytes)?;
        self.file.sync()?;
        // A process that died in its first commit may not have come to this.
        self.disk.sync_dir(self.path.parent().unwrap_or(&self.path))?;
        Ok(sealed)
    }

    /// Copies the end of the log to a file beside it, which is durable afterwards. The copy that a
    /// sealing made before it died is taken as it is; another tail's copy is left alone.
    fn keep(&mut self, offset_bytes: u64, bytes: u64) -> io::Result<PathBuf> {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or("log");
        let names = (0_u64..).map(|n| {
            let again = if n == 0 { String::new() } else { format!(".{n}") };
            self.path.with_file_name(format!("{name}.torn-{offset_bytes}{again}"))
        });
        let range_bytes = offset_bytes..offset_bytes.saturating_add(bytes);
        let disk = &*self.disk;
        keep(disk, &mut *self.file, range_bytes.clone(), names, &mut |log, to| {
            copy_beside(disk, log, range_bytes.clone(), to)
        })
    }
}
