//! What reading a log costs: a log of some hundred megabytes, written by the real writer, read in
//! the same pieces by a loop that counts newlines, by the reader, and line by line as JSON. And how
//! much memory a far longer one takes, `reading RECORDS` of them.
//!
//! It prints ratios and judges nothing. `reading fold LOG` folds one log once.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo::testing::RawLog;
use apollo::{Crc, RealDisk, Record, RecordError, RunState, Timestamp};
use apollo_tests::dir::Dir;
use apollo_tests::events::{opened, retried, step, succeeded};

const ROUNDS: usize = 5;
const STEPS: u32 = 1_000;

/// How many records the short log has, about 200 MiB.
const RECORDS: u32 = 500_000;

/// As much as the reader reads at once.
const CHUNK_BYTES: usize = 1024 * 1024;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["fold", log] => println!("{}", fold_and_weigh(Path::new(log))),
        [] => compare(10 * RECORDS),
        [records] => compare(records.parse().expect("a number of records")),
        _ => panic!("usage: reading [RECORDS | fold LOG]"),
    }
}

fn compare(records: u32) {
    let dir = Dir::new("reading");
    kinds();
    let log = write(&dir.path().join("short.jsonl"), RECORDS);
    files(&log);
    let longer = write(&dir.path().join("long.jsonl"), records);
    for log in [log, longer] {
        let this = std::env::current_exe().expect("this program");
        let said = Command::new(this).arg("fold").arg(log).output().expect("a child").stdout;
        print!("{}", String::from_utf8_lossy(&said));
    }
}

/// What a log costs, in a file that the system has in memory.
fn files(log: &Path) {
    let mib = fs::metadata(log).expect("a log").len() as f64 / 1024.0 / 1024.0;
    let rounds: Vec<_> = (0..ROUNDS)
        .map(|_| [timed(|| count(log)), timed(|| read(log)), timed(|| as_json(log))])
        .collect();
    let print = |name, which: usize, against: usize, what| {
        let of = |round: &[Duration; 3]| ratio(round[against], round[which]);
        let mut rounds = rounds.clone();
        rounds.sort_by(|a, b| of(a).total_cmp(&of(b)));
        let middle = rounds[ROUNDS / 2];
        println!(
            "{name}: {:.0} MiB/s, {:.2} times as fast as {what} ({:.2} to {:.2} in {ROUNDS} rounds)",
            mib / middle[which].as_secs_f64(),
            of(&middle),
            of(&rounds[0]),
            of(&rounds[ROUNDS - 1]),
        );
    };
    print("the reader, with the fold", 1, 0, "counting newlines");
    print("the reader, with the fold", 1, 2, "JSON with the fold");
}

/// What a line of each kind costs, without a file.
fn kinds() {
    let step = step("s7");
    let [start, success] = succeeded(&step, 3);
    let [_, retrying] = retried(&step, 3);
    for (name, event) in [("STEP_START", start), ("SUCCESS", success), ("a retry", retrying)] {
        let record = Record {
            timestamp: Timestamp::from_unix_us(1_794_000_000_000_789),
            seq: 1_234_567,
            epoch: 0,
            durable: 1_234_560,
            prev: Crc::of(b"before"),
            event,
        };
        let bytes = record.encode("x.jsonl").expect("a line").bytes;
        let line = bytes.strip_suffix(b"\n").expect("a newline");
        let many = |decode: Decode| {
            timed(|| {
                for _ in 0..200_000 {
                    decode(std::hint::black_box(line), &no_spill).expect("a record");
                }
            })
        };
        let mut rounds: Vec<_> =
            (0..ROUNDS).map(|_| (many(Record::decode), many(Record::decode_as_json))).collect();
        rounds.sort_by(|a, b| ratio(a.1, a.0).total_cmp(&ratio(b.1, b.0)));
        let (plain, json) = rounds[ROUNDS / 2];
        println!(
            "a line of {name}, {} bytes: {:.0} ns, as JSON {:.0} ns: {:.1} times as fast",
            line.len(),
            plain.as_nanos() as f64 / 2e5,
            json.as_nanos() as f64 / 2e5,
            ratio(json, plain),
        );
    }
}

type Load<'a> = &'a dyn Fn(&str) -> std::io::Result<Vec<u8>>;
type Decode = fn(&[u8], Load<'_>) -> Result<(Record, Crc), RecordError>;

fn no_spill(_name: &str) -> std::io::Result<Vec<u8>> {
    Err(std::io::ErrorKind::NotFound.into())
}

/// Counts newlines, which is the least that any reader does.
fn count(log: &Path) -> u64 {
    let mut lines = 0;
    each_line(log, |_line| lines += 1);
    lines
}

/// Reads and folds the log as a run does that finds it.
fn read(log: &Path) -> u64 {
    let (_state, found) = RawLog::at(Arc::new(RealDisk), log).fold().expect("a log");
    found.records
}

/// Reads every line by the JSON parser, and folds it.
fn as_json(log: &Path) -> u64 {
    let load = |name: &str| fs::read(log.with_file_name(name));
    let mut state = RunState::default();
    let (mut seq, mut prev) = (0, Crc::default());
    each_line(log, |line| {
        let (record, crc) = Record::decode_as_json(line, &load).expect("a record");
        assert_eq!((record.seq, record.prev), (seq, prev));
        state.apply(&record).expect("a true record");
        (seq, prev) = (seq + 1, crc);
    });
    seq
}

fn each_line(log: &Path, mut each: impl FnMut(&[u8])) {
    let file = File::open(log).expect("a log");
    let mut from = BufReader::with_capacity(CHUNK_BYTES, file);
    let mut carried = Vec::new();
    loop {
        let bytes = from.fill_buf().expect("a disk");
        if bytes.is_empty() {
            return;
        }
        let (mut rest, len) = (bytes, bytes.len());
        loop {
            let mut after = rest;
            let seen = after.skip_until(b'\n').expect("memory");
            let Some(line) = rest[..seen].strip_suffix(b"\n") else { break };
            if carried.is_empty() {
                each(line);
            } else {
                carried.extend_from_slice(line);
                each(&carried);
                carried.clear();
            }
            rest = after;
        }
        carried.extend_from_slice(rest);
        from.consume(len);
    }
}

/// Folds one log, and tells how long and how much memory that took.
fn fold_and_weigh(log: &Path) -> String {
    let began = Instant::now();
    let records = read(log);
    let seconds = began.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    let mib = fs::metadata(log).expect("a log").len() / 1024 / 1024;
    let peak = peak.trim();
    format!(
        "{mib} MiB, {records} records of {STEPS} steps: {seconds:.1} s, {peak} of memory at most"
    )
}

/// Writes a log of about so many records: one epoch, whose steps fail often before they succeed.
fn write(log: &Path, records: u32) -> PathBuf {
    let failures = records / STEPS / 2;
    let ids: Vec<_> = (0..STEPS).map(|n| step(&format!("step_{n}"))).collect();
    let failing = (0..failures)
        .flat_map(|n| ids.iter().flat_map(move |id| retried(id, n)))
        .chain(ids.iter().flat_map(|id| succeeded(id, failures)));
    let events = std::iter::once(opened(&ids)).chain(failing).map(|event| (0, event));
    RawLog::at(Arc::new(RealDisk), log).write(4_096, events).expect("room for a log");
    log.to_owned()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    std::hint::black_box(work());
    began.elapsed()
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
