//! [`Lines`]: a log file as lines, read in large pieces with what is left of one carried over.
//!
//! It is not the judge of a line: that is `reader`.
//!
//! **Invariant:** it looks only at the bytes that the file had when it was opened, so a log that
//! somebody appends to meanwhile is seen as it was; memory does not grow with the file.

use std::io::{self, BufRead as _};

use crate::disk::DiskFile;
use crate::record::LINE_BYTES_MAX;

/// How much is read at once.
const CHUNK_BYTES: usize = 1024 * 1024;

/// A window that moves over a file.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    file: &'a mut dyn DiskFile,
    /// Where the file ends.
    len_bytes: u64,
    /// Bytes of the file, from `buf_offset_bytes` on.
    buf: Vec<u8>,
    buf_offset_bytes: u64,
    /// Where in `buf` the bytes begin that were not taken yet.
    taken: usize,
}

/// The next bytes of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A line of so many bytes, and its newline behind it.
    Line(usize),
    /// Bytes, but no newline as far as a line may reach.
    Open,
    /// Nothing.
    End,
}

impl<'a> Lines<'a> {
    /// Begins at an offset.
    pub(super) fn at(file: &'a mut dyn DiskFile, offset_bytes: u64) -> io::Result<Self> {
        let len_bytes = file.stat()?.0.len;
        let buf = Vec::new();
        Ok(Self { file, len_bytes, buf, buf_offset_bytes: offset_bytes, taken: 0 })
    }

    /// Where the bytes begin that were not taken yet.
    pub(super) const fn offset_bytes(&self) -> u64 {
        self.buf_offset_bytes + self.taken as u64
    }

    /// Where the file ended when reading began.
    pub(super) const fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Looks for the next line, which is then at the start of [`Self::bytes`].
    pub(super) fn look(&mut self) -> io::Result<Next> {
        if let Some(line) = self.visible_line()? {
            return Ok(Next::Line(line));
        }
        self.fill(LINE_BYTES_MAX + 1)?;
        Ok(match self.visible_line()? {
            Some(line) => Next::Line(line),
            None if self.bytes().is_empty() => Next::End,
            None => Next::Open,
        })
    }

    /// The length of the line that the visible bytes begin with, where its newline is among them.
    pub(super) fn visible_line(&self) -> io::Result<Option<usize>> {
        let bytes = self.bytes();
        let mut rest = bytes.get(..=LINE_BYTES_MAX).unwrap_or(bytes);
        let seen = rest.skip_until(b'\n')?;
        Ok(bytes.get(..seen).and_then(|seen| seen.strip_suffix(b"\n")).map(<[u8]>::len))
    }

    /// Makes at least so many bytes visible, if the file has them.
    pub(super) fn fill(&mut self, wanted: usize) -> io::Result<()> {
        if self.bytes().len() >= wanted {
            return Ok(());
        }
        self.buf.drain(..self.taken);
        self.buf_offset_bytes += self.taken as u64;
        self.taken = 0;
        while self.buf.len() < wanted {
            let end = self.buf.len();
            let left = self.len_bytes.saturating_sub(self.buf_offset_bytes + end as u64);
            let room = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            self.buf.resize(end + room, 0);
            let offset_bytes = self.buf_offset_bytes + end as u64;
            let read = match self.buf.get_mut(end..) {
                Some([]) | None => 0,
                Some(free) => self.file.read_at(offset_bytes, free)?,
            };
            self.buf.truncate(end + read);
            if read == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The bytes that are visible and were not taken yet.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buf.get(self.taken..).unwrap_or_default()
    }

    /// Goes on behind the next `len` bytes.
    pub(super) fn take(&mut self, len: usize) {
        self.taken = (self.taken + len).min(self.buf.len());
    }
}
