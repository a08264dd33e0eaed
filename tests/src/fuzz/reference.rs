//! The reference reader: the rules of `docs/format.md`, "Reading", done slowly over bytes in memory.
//!
//! It is not fast, and it shares nothing with the product's reader but the meaning of one line, for
//! which it takes the way through the JSON parser.

use std::collections::BTreeMap;
use std::io;

use apollo::{Record, RecordError, SCHEMA};
use serde::Deserialize;
use serde_json::Value;

/// The longest line, without its newline.
const LINE_BYTES_MAX: usize = 65_535;

const LINE_START: &[u8] = b"{\"timestamp\":\"";

/// The files beside a log, by their names.
pub(super) type Beside = BTreeMap<String, Vec<u8>>;

/// What a log is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// One to go on with, perhaps behind a torn tail.
    Usable {
        /// Its valid records.
        records: Vec<Record>,
        /// Where they end.
        end_bytes: u64,
        /// Where the first one begins that the last one does not say to be synced.
        durable_end_bytes: u64,
        /// Whether something follows them.
        torn: bool,
    },
    /// A synced record is damaged.
    Corrupt {
        /// Which line, from 1.
        line: u64,
        /// Where it begins.
        offset_bytes: u64,
    },
    /// Another version's.
    Schema(u64),
}

/// What a line is.
enum Line {
    /// A record, and its crc.
    Valid(Box<Record>, String),
    /// A crash may have left it.
    Suspect,
    /// It has a right crc, so no crash has left it.
    Impossible,
    /// Another version wrote it; `whole` where its crc is right as well.
    Schema { schema: u64, whole: bool },
}

/// Reads a log.
pub(super) fn read(log: &[u8], beside: &Beside) -> Verdict {
    let mut records: Vec<Record> = Vec::new();
    let (mut begins, mut at, mut prev) = (Vec::new(), 0, "00000000".to_owned());
    while at < log.len() {
        let rest = &log[at..];
        let next = records.len() as u64;
        let line = line_of(rest);
        let found = line.map_or(Line::Suspect, |line| judge(line, records.is_empty(), beside));
        let (mut impossible, mut other) = (false, None);
        match found {
            Line::Valid(record, crc)
                if (record.seq, record.prev.to_string()) == (next, prev.clone()) =>
            {
                let least = records.last().map_or(0, |last| last.durable);
                if (least..=next).contains(&record.durable) {
                    begins.push(at as u64);
                    records.push(*record);
                    at += line.map_or(0, <[u8]>::len) + 1;
                    prev = crc;
                    continue;
                }
                impossible = true;
            }
            Line::Valid(..) | Line::Suspect => {}
            Line::Impossible => impossible = true,
            Line::Schema { schema, whole: true } => return Verdict::Schema(schema),
            Line::Schema { schema, whole: false } => other = Some(schema),
        }
        if impossible || has_voucher(rest, next) {
            return Verdict::Corrupt { line: next + 1, offset_bytes: at as u64 };
        }
        return other.map_or_else(|| usable(records, &begins, at, true), Verdict::Schema);
    }
    usable(records, &begins, at, false)
}

fn usable(records: Vec<Record>, begins: &[u64], end: usize, torn: bool) -> Verdict {
    let durable = records.last().map_or(0, |record| record.durable);
    let durable = usize::try_from(durable).expect("no more than there are records");
    let end_bytes = end as u64;
    let durable_end_bytes = *begins.get(durable).unwrap_or(&end_bytes);
    Verdict::Usable { records, end_bytes, durable_end_bytes, torn }
}

/// The bytes up to the next newline, where it is no further than a line may be long.
fn line_of(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().take(LINE_BYTES_MAX + 1).position(|byte| *byte == b'\n')?;
    Some(&bytes[..end])
}

fn judge(line: &[u8], is_first: bool, beside: &Beside) -> Line {
    let other_schema = || {
        let line: Value = serde_json::from_slice(line).ok()?;
        let schema = line.get("detail")?.get("schema")?.as_u64()?;
        (is_first && schema > u64::from(SCHEMA)).then_some(schema)
    };
    let Some(crc) = right_crc(line) else {
        return match other_schema() {
            Some(schema) => Line::Schema { schema, whole: false },
            None => Line::Suspect,
        };
    };
    let load = |name: &str| {
        let found = beside.get(name).filter(|_| !name.contains('/'));
        found.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    match (Record::decode_as_json(line, &load), other_schema()) {
        (Ok((record, found)), _) => {
            assert_eq!(found.to_string(), crc, "two ways to the same crc");
            Line::Valid(Box::new(record), crc)
        }
        (Err(RecordError::Spill { .. }), _) => Line::Suspect,
        (Err(RecordError::Schema { schema }), _) => {
            Line::Schema { schema: schema.into(), whole: true }
        }
        (Err(_), Some(schema)) => Line::Schema { schema, whole: true },
        (Err(_), None) => Line::Impossible,
    }
}

/// Whether a record that is valid in itself says that the one numbered `bad` was synced, wherever
/// it begins.
fn has_voucher(bytes: &[u8], bad: u64) -> bool {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(rename = "seq")]
        _seq: u64,
        durable: u64,
    }
    let starts = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(LINE_START));
    let lines = starts.filter_map(|at| line_of(&bytes[at..]));
    let whole = lines.filter(|line| right_crc(line).is_some());
    whole.filter_map(|line| serde_json::from_slice(line).ok()).any(|it: Envelope| it.durable > bad)
}

/// The crc that a line ends in, where its bytes give the same.
fn right_crc(line: &[u8]) -> Option<String> {
    let (body, crc) = split_crc(line)?;
    let computed = format!("{:08x}", crc32(body));
    (crc == computed.as_bytes()).then_some(computed)
}

/// A line up to its crc, and the crc, whatever it is.
pub(super) fn split_crc(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.len().checked_sub(b",\"crc\":\"00000000\"}".len())?;
    let (body, end) = line.split_at(at);
    Some((body, end.strip_prefix(b",\"crc\":\"")?.strip_suffix(b"\"}")?))
}

/// CRC-32 as IEEE 802.3 has it.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    !bytes
        .iter()
        .fold(!0, |crc: u32, byte| TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8))
}

/// What eight steps of the division make of each byte.
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}
