//! [`Ends`]: the first and the last record of a log, without reading what is between them.
//!
//! It is not a judgement: whether the log is whole only a scan can tell. What is read here is good
//! enough for a hint at runs that nobody finished.

use std::io;
use std::path::Path;

use super::reader::read_spill;
use crate::disk::{Disk, Open};
use crate::record::{LINE_BYTES_MAX, Record};

/// The first and the last record of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ends {
    /// The first line, where it is a record.
    pub(crate) first: Option<Record>,
    /// The last line that has a newline, where it is a record.
    pub(crate) last: Option<Record>,
}

impl Ends {
    /// Reads both ends of a log.
    ///
    /// # Errors
    /// What the disk says.
    pub(crate) fn read(disk: &dyn Disk, path: &Path) -> io::Result<Self> {
        let mut file = disk.open(path, Open::Read)?;
        let len_bytes = file.stat()?.0.len;
        let mut at = |offset_bytes: u64| {
            let mut bytes = vec![0; LINE_BYTES_MAX + 1];
            let mut filled = 0;
            while let Some(free) = bytes.get_mut(filled..).filter(|free| !free.is_empty()) {
                match file.read_at(offset_bytes + filled as u64, free)? {
                    0 => break,
                    read => filled += read,
                }
            }
            bytes.truncate(filled);
            io::Result::Ok(bytes)
        };
        let head = at(0)?;
        // A whole last line, the newline before it, and the start of what a crash may have left.
        let window = LINE_BYTES_MAX as u64 + 1;
        let (middle, tail) =
            (len_bytes.saturating_sub(2 * window), len_bytes.saturating_sub(window));
        let mut end = if middle < tail { at(middle)? } else { Vec::new() };
        end.truncate(usize::try_from(tail - middle).unwrap_or(usize::MAX));
        end.extend(at(tail)?);
        let load = |name: &str| read_spill(disk, path, name);
        let decode = |line: &[u8]| Record::decode(line, &load).ok().map(|(record, _crc)| record);
        let newline = |byte: &u8| *byte == b'\n';
        let first = head.iter().position(newline).and_then(|end| head.get(..end));
        let whole = end.iter().rposition(newline);
        let last = whole.and_then(|whole| end.get(..whole)).and_then(|lines| {
            let start = lines.iter().rposition(newline).map_or(0, |newline| newline + 1);
            lines.get(start..)
        });
        Ok(Self { first: first.and_then(decode), last: last.and_then(decode) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::{LogFile, LogWriter, Sync};
    use crate::record::{Closing, Event};
    use crate::time::Timestamp;

    /// Writes closings that take so many milliseconds, then bytes, and reads both ends.
    fn check(lines: &[u64], tail: &[u8], ends: (Option<u64>, Option<u64>)) {
        let name = format!("apollo-ends-{}-{}.jsonl", std::process::id(), lines.len() + tail.len());
        let path = std::env::temp_dir().join(name);
        drop(RealDisk.remove_file(&path));
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let (mut writer, mut file): (LogWriter, LogFile) = LogFile::create(&disk, &path).unwrap();
        for line in lines {
            let closing = Closing {
                success: true,
                steps: None,
                counts: std::collections::BTreeMap::new(),
                degraded: Vec::new(),
                duration_ms: *line,
            };
            let event = Event::EpochClosed(Box::new(closing));
            writer.append(Timestamp::from_unix_us(0), 0, event, Sync::Batched).unwrap();
        }
        file.commit(&writer.take(), false, 0).unwrap();
        file.close().unwrap();
        RealDisk.open(&path, Open::Write).unwrap().append(tail).unwrap();
        let found = Ends::read(&RealDisk, &path).unwrap();
        RealDisk.remove_file(&path).unwrap();
        let seq = |record: &Option<Record>| record.as_ref().map(|record| record.seq);
        assert_eq!((seq(&found.first), seq(&found.last)), ends);
    }

    #[test]
    fn the_last_whole_line_is_found_behind_a_torn_tail() {
        check(&[], b"", (None, None));
        check(&[], b"{\"time", (None, None));
        check(&[1], b"", (Some(0), Some(0)));
        check(&[1, 2, 3], b"{\"timestamp\":", (Some(0), Some(2)));
        check(&[1, 2], b"no record\n", (Some(0), None));
        let many: Vec<u64> = (0..1000).collect();
        check(&many, &[0; 60_000], (Some(0), Some(999)));
    }
}
