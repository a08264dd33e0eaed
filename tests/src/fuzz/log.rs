//! The target `log`: any bytes as a log.
//!
//! The reader finds the same records, and comes to the same verdict, as the reference reader does;
//! a part of a log has a part of its records; sealing keeps them, and sealing again changes nothing;
//! repairing makes of what is refused a log that can be gone on with, and repairs nothing else.
//!
//! The first byte says how the rest becomes a log, because chance does not hit a checksum: `s` puts
//! the right crc into every line that ends in one, `c` also the right seq and prev; anything else
//! is taken as it is.

use std::io;
use std::path::Path;
use std::sync::Arc;

use apollo::testing::{RawLog, SimClock, SimDisk};
use apollo::{
    Disk as _, ReadError, Record, RecordError, RepairError, RunOptions, RunState, Timestamp, repair,
};

use super::reference::{self, Beside, Verdict};

const LOG: &str = "/.apollo/logs/task_t_1.jsonl";

/// The one file that a header of the corpus refers to.
const SPILLED: (&str, &[u8]) = ("task_t_1.jsonl.0.warnings.json", b"[\"spilled\"]");

pub(super) fn check(input: &[u8]) {
    let log = mend(input);
    check_lines(&log);
    let whole = check_verdict(&log);
    // Any place will do, as long as it is the same one the next time.
    let place = usize::try_from(reference::crc32(&log)).expect("32 bits") % (log.len() + 1);
    check_part(&log[..place], &whole);
    check_repair(&log, &whole);
    if let Verdict::Usable { records, end_bytes, .. } = whole {
        check_seal(&log, usize::try_from(end_bytes).expect("a small log"), &records);
    }
}

/// A disk that holds the log.
fn disk(log: &[u8]) -> (SimDisk, RawLog) {
    let disk = SimDisk::new(0);
    for (dir, parent) in [("/.apollo", "/"), ("/.apollo/logs", "/.apollo")] {
        disk.create_dir(Path::new(dir)).expect("a disk");
        disk.sync_dir(Path::new(parent)).expect("a disk");
    }
    disk.write(LOG, log).expect("a disk");
    disk.write(Path::new(LOG).with_file_name(SPILLED.0), SPILLED.1).expect("a disk");
    let raw = RawLog::at(Arc::new(disk.clone()), Path::new(LOG));
    (disk, raw)
}

/// Each line means the same whether it is read as a plain one or not.
fn check_lines(log: &[u8]) {
    let no_spill = |_: &str| Err(io::ErrorKind::NotFound.into());
    let told = |read: Result<_, RecordError>| read.map_err(|error| error.to_string());
    for line in log.split(|byte| *byte == b'\n') {
        let as_json = told(Record::decode_as_json(line, &no_spill));
        assert_eq!(told(Record::decode(line, &no_spill)), as_json, "{}", line.escape_ascii());
    }
}

/// The reader and the reference reader agree, and the fold is that of the records.
fn check_verdict(log: &[u8]) -> Verdict {
    let beside = Beside::from([(SPILLED.0.to_owned(), SPILLED.1.to_owned())]);
    let expected = reference::read(log, &beside);
    let (disk, raw) = disk(log);
    let before = disk.files();
    let found = read(&raw);
    assert_eq!(found, expected);
    if let Verdict::Usable { records, .. } = &found {
        let mut state = RunState::default();
        let applied = records.iter().try_for_each(|record| state.apply(record));
        match raw.fold() {
            Ok((folded, _)) => assert_eq!((applied, state), (Ok(()), folded)),
            Err(ReadError::Contradiction { .. }) => assert!(applied.is_err()),
            Err(error) => panic!("it can be read and not folded: {error}"),
        }
    }
    assert_eq!(disk.files(), before, "reading writes nothing");
    found
}

/// A log that ends earlier has the first of its records, and nothing else.
fn check_part(log: &[u8], whole: &Verdict) {
    if let (Verdict::Usable { records, .. }, Verdict::Usable { records: all, .. }) =
        (check_verdict(log), whole)
    {
        assert_eq!(records, all[..records.len()]);
    }
}

/// A sealed log has the same records and nothing else; sealing it again changes no file.
fn check_seal(log: &[u8], end: usize, records: &[Record]) {
    let (disk, raw) = disk(log);
    let kept = raw.seal().expect("a usable log");
    assert_eq!(disk.read(LOG).as_deref(), Some(&log[..end]));
    assert_eq!(kept.and_then(|kept| disk.read(kept)).unwrap_or_default(), log[end..]);
    let Verdict::Usable { records: sealed, torn: false, .. } = read(&raw) else {
        panic!("a sealed log is whole")
    };
    assert_eq!(sealed, records);
    let files = disk.files();
    assert_eq!(raw.seal().expect("a sealed log"), None);
    assert_eq!(disk.files(), files, "sealing again");
    assert_eq!(
        disk.cut_power().read(LOG).as_deref(),
        Some(&log[..end]),
        "what is sealed is synced"
    );
}

/// A log that is refused is repaired: its first part can be folded, and the whole one is kept. What
/// is not damaged, and what another version wrote, is left as it is.
fn check_repair(log: &[u8], verdict: &Verdict) {
    let (disk, raw) = disk(log);
    let clock = SimClock::new(Timestamp::from_unix_us(0));
    let options = RunOptions::new().dir("/.apollo").disk(Arc::new(disk.clone()));
    let options = options.clock(Arc::new(clock));
    let is_sound = raw.fold().is_ok();
    let repaired = match (repair(&options, "t"), verdict) {
        (Err(RepairError::Read { .. }), Verdict::Schema(_)) => return,
        (repaired, _) => repaired.expect("a log of this version"),
    };
    let Some(damage) = repaired.damage else {
        assert!(is_sound, "what is refused is damaged");
        assert_eq!(disk.read(LOG).as_deref(), Some(log));
        return;
    };
    assert!(!is_sound, "what is not refused is not damaged");
    if let Verdict::Corrupt { offset_bytes, .. } = verdict {
        assert!(damage.offset_bytes <= *offset_bytes, "only a contradiction comes before it");
    }
    let good = usize::try_from(damage.offset_bytes).expect("a small log");
    assert_eq!(disk.read(LOG).as_deref(), Some(&log[..good]));
    assert_eq!(repaired.kept.and_then(|kept| disk.read(kept)).as_deref(), Some(log));
    let (state, found) = raw.fold().expect("a repaired log");
    assert_eq!((state.records(), found.torn_bytes), (repaired.records, None));
    let files = disk.files();
    assert_eq!(repair(&options, "t").expect("a repaired log").damage.map(|it| it.line), None);
    assert_eq!(disk.files(), files, "repairing again");
}

/// What the product's reader says, in the words of the reference.
fn read(raw: &RawLog) -> Verdict {
    let mut records = Vec::new();
    match raw.read(&mut |record| records.push(record)) {
        Ok(found) => {
            assert_eq!(found.records, records.len() as u64);
            Verdict::Usable {
                records,
                end_bytes: found.end_bytes,
                durable_end_bytes: found.durable_end_bytes,
                torn: found.torn_bytes.is_some(),
            }
        }
        Err(ReadError::Corrupt { line, offset_bytes, .. }) => {
            Verdict::Corrupt { line, offset_bytes }
        }
        Err(ReadError::Schema { schema, .. }) => Verdict::Schema(schema),
        Err(error) => panic!("no verdict: {error}: {error:?}"),
    }
}

/// Makes a log of an input.
fn mend(input: &[u8]) -> Vec<u8> {
    let (chained, rest) = match input {
        [b's', rest @ ..] => (false, rest),
        [b'c', rest @ ..] => (true, rest),
        _ => return input.to_vec(),
    };
    let (mut log, mut seq, mut prev) = (Vec::new(), 0, "00000000".to_owned());
    for line in rest.split_inclusive(|byte| *byte == b'\n') {
        let (line, newline) =
            line.strip_suffix(b"\n").map_or((line, &b""[..]), |line| (line, b"\n"));
        let Some((body, _crc)) = reference::split_crc(line) else {
            log.extend([line, newline].concat());
            continue;
        };
        let mut body = body.to_vec();
        if chained {
            body = with(&body, b"\"seq\":", b",\"epoch\"", &seq.to_string());
            body = with(&body, b",\"prev\":\"", b"\"", &prev);
        }
        let crc = format!("{:08x}", reference::crc32(&body));
        log.extend([&*body, format!(",\"crc\":\"{crc}\"}}").as_bytes(), newline].concat());
        (seq, prev) = (seq + 1, crc);
    }
    log
}

/// Puts a value between two texts, where there is a place between them.
fn with(body: &[u8], before: &[u8], after: &[u8], value: &str) -> Vec<u8> {
    let place = || {
        let begin = before.len() + body.windows(before.len()).rposition(|it| it == before)?;
        let len = body[begin..].windows(after.len()).position(|it| it == after)?;
        Some((&body[..begin], &body[begin + len..]))
    };
    let mended = place().map(|(start, end)| [start, value.as_bytes(), end].concat());
    mended.unwrap_or_else(|| body.to_vec())
}
