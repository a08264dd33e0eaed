//! [`Damage`]: what is wrong with the bytes of a log, found out without Apollo's reader.

use serde::Deserialize;

use super::story::{Story, crc_is_right};

/// What every line begins with.
const LINE_START: &[u8] = b"{\"timestamp\":\"";

/// The first line of a log that is no record, and whether somebody says that it was synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1.
    pub line: u64,
    /// Where it begins: everything before it is good.
    pub offset_bytes: u64,
    /// Whether a later record, or the snapshot, says that it was synced: then it is corruption, and
    /// else a torn tail.
    pub is_vouched: bool,
}

/// As much of a snapshot as a stranger can read.
#[derive(Deserialize)]
struct Snapshot {
    chain: Chain,
}

#[derive(Deserialize)]
struct Chain {
    records: u64,
}

impl Damage {
    /// Looks for the first line that is no record. A snapshot is one of this log.
    pub fn of(log: &[u8], snapshot: Option<&[u8]>) -> Option<Self> {
        let good = Story::of(log).good_lines();
        let (lines, offset) = (good.len() as u64, good.last().copied().unwrap_or_default());
        let kept = snapshot.and_then(records_of);
        let is_missed = kept.is_some_and(|records| records > lines);
        if offset == log.len() && !is_missed {
            return None;
        }
        let rest = &log[offset..];
        let starts = (0..rest.len()).filter(|at| rest[*at..].starts_with(LINE_START));
        let says = |at: usize| {
            let line = rest[at..].split(|byte| *byte == b'\n').next()?;
            // Without its newline a line is no record.
            let whole = rest.get(at + line.len()) == Some(&b'\n') && crc_is_right(line);
            #[derive(Deserialize)]
            struct Envelope {
                durable: u64,
            }
            let envelope = serde_json::from_slice::<Envelope>(line).ok().filter(|_| whole)?;
            Some(envelope.durable)
        };
        let is_vouched = is_missed || starts.filter_map(says).any(|durable| durable > lines);
        Some(Self { line: lines + 1, offset_bytes: offset as u64, is_vouched })
    }
}

/// How many records a snapshot stands for.
pub fn records_of(snapshot: &[u8]) -> Option<u64> {
    let line = snapshot.split(|byte| *byte == b'\n').next()?;
    serde_json::from_slice::<Snapshot>(line).ok().map(|kept| kept.chain.records)
}

/// Whether the first line names a schema that is none of this version's.
pub fn is_of_another_schema(log: &[u8]) -> bool {
    let line = log.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let header: Option<serde_json::Value> = serde_json::from_slice(line).ok();
    header
        .is_some_and(|header| header["detail"]["schema"].as_u64().is_some_and(|schema| schema != 1))
}
