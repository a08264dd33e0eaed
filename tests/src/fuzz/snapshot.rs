//! The target `snapshot`: any bytes beside a log, where its snapshot should be.
//!
//! One whose crc is not right is as good as none: the fold is that of the log alone. One whose crc
//! is right, whatever it says, brings nothing down, and stands only for records that the log has.
//!
//! The first byte says how the rest becomes a file: `e` changes bytes of the real snapshot, at a
//! place of two bytes each, `E` does that and makes the crc right; `s` makes the crc right of what
//! is there; anything else is taken as it is.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use apollo::testing::{RawLog, SimDisk};
use apollo::{Event, ReadError, RunState};

use super::reference;
use crate::events::{opened, step, succeeded};

const LOG: &str = "/task_t_1.jsonl";
const SNAPSHOT: &str = "/task_t_1.jsonl.snapshot";
const CRC: &[u8] = b",\"crc\":\"00000000\"}\n";

/// How many steps the log is about, and how many of its records the snapshot stands for.
const STEPS: usize = 4;
const RECORDS: u64 = 6;

/// A log and its snapshot, and what the log adds up to.
struct Real {
    log: Vec<u8>,
    snapshot: Vec<u8>,
    state: RunState,
}

static REAL: LazyLock<Real> = LazyLock::new(|| {
    let disk = SimDisk::new(0);
    let raw = RawLog::at(Arc::new(disk.clone()), Path::new(LOG));
    raw.write_with_snapshot(RECORDS, events()).expect("a disk");
    let read = |path| disk.read(path).expect("a file");
    let (state, found) = raw.fold().expect("a log");
    assert_eq!(found.from_snapshot, RECORDS, "the real one is used");
    Real { log: read(LOG), snapshot: read(SNAPSHOT), state }
});

pub(super) fn check(input: &[u8]) {
    let snapshot = match input {
        [b'e', rest @ ..] => edited(rest),
        [b'E', rest @ ..] => signed(&edited(rest)),
        [b's', rest @ ..] => signed(rest),
        _ => input.to_vec(),
    };
    let disk = SimDisk::new(0);
    disk.write(LOG, &REAL.log).expect("a disk");
    disk.write(SNAPSHOT, &snapshot).expect("a disk");
    let raw = RawLog::at(Arc::new(disk), Path::new(LOG));
    let is_real = snapshot == REAL.snapshot;
    match raw.fold() {
        Ok((state, found)) => {
            let trusted = found.from_snapshot;
            assert!(trusted <= found.records);
            if is_real {
                assert_eq!(trusted, RECORDS);
            } else if !is_whole(&snapshot) {
                assert_eq!(trusted, 0, "an altered snapshot is believed");
            }
            if is_real || trusted == 0 {
                assert_eq!(state, REAL.state);
            }
        }
        Err(ReadError::Corrupt { .. } | ReadError::Contradiction { .. }) => {
            assert!(is_whole(&snapshot) && !is_real, "an altered snapshot is a witness");
        }
        Err(error) => panic!("no verdict: {error}: {error:?}"),
    }
}

/// The real snapshot with some bytes changed.
fn edited(edits: &[u8]) -> Vec<u8> {
    let mut bytes = REAL.snapshot.clone();
    for [high, low, mask] in edits.as_chunks::<3>().0 {
        let place = usize::from(u16::from_be_bytes([*high, *low])) % bytes.len();
        bytes[place] ^= mask;
    }
    bytes
}

/// The same file with the right crc behind it.
fn signed(bytes: &[u8]) -> Vec<u8> {
    let body = &bytes[..bytes.len().saturating_sub(CRC.len())];
    let crc = format!(",\"crc\":\"{:08x}\"}}\n", reference::crc32(body));
    [body, crc.as_bytes()].concat()
}

fn is_whole(bytes: &[u8]) -> bool {
    signed(bytes) == bytes
}

fn events() -> Vec<(u32, Event)> {
    let steps: Vec<_> = (0..STEPS).map(|n| step(&format!("s{n}"))).collect();
    let attempts = steps.iter().flat_map(|step| succeeded(step, 0));
    std::iter::once(opened(&steps)).chain(attempts).map(|event| (0, event)).collect()
}
