//! What reading a log costs: a log of some hundred megabytes, written by the real writer, read in
//! the same pieces by a loop that counts newlines, by the reader, and line by line as JSON.
//!
//! It prints ratios and judges nothing. `reading fold LOG` reads one log once and prints how much
//! memory that took.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo::testing::RawLog;
use apollo::{
    Attempt, Crc, Digest, End, Event, Header, HeaderStep, OpenReason, RealDisk, Record,
    RecordError, RetryPolicy, RunState, StepId, TaskId, TaskName, Timestamp,
};
use apollo_tests::dir::Dir;

const ROUNDS: usize = 5;
const STEPS: u32 = 1_000;

/// As much as the reader reads at once.
const CHUNK_BYTES: usize = 1024 * 1024;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["fold", log] => println!("{}", fold_and_weigh(Path::new(log))),
        [] => compare(),
        _ => panic!("usage: reading [fold LOG]"),
    }
}

fn compare() {
    let dir = Dir::new("reading");
    let small = write(&dir.path().join("small.jsonl"), 250);
    let large = write(&dir.path().join("large.jsonl"), 2_500);
    let (small, large) = (small.as_path(), large.as_path());
    kinds();
    let mut rounds: Vec<_> = (0..ROUNDS)
        .map(|_| [timed(|| count(small)), timed(|| read(small)), timed(|| as_json(small))])
        .collect();
    let mib = fs::metadata(small).expect("a log").len() as f64 / 1024.0 / 1024.0;
    for (name, which) in [("the reader, with the fold", 1), ("as JSON, with the fold", 2)] {
        rounds.sort_by(|a, b| ratio(a[0], a[which]).total_cmp(&ratio(b[0], b[which])));
        let middle = &rounds[ROUNDS / 2];
        println!(
            "{name}: {:.0} MiB/s, {:.2} of counting newlines ({:.0} MiB/s)",
            mib / middle[which].as_secs_f64(),
            ratio(middle[0], middle[which]),
            mib / middle[0].as_secs_f64(),
        );
    }
    rounds.sort_by(|a, b| ratio(a[2], a[1]).total_cmp(&ratio(b[2], b[1])));
    println!("the reader is {:.1} times as fast as JSON", {
        let middle = &rounds[ROUNDS / 2];
        ratio(middle[2], middle[1])
    });
    for log in [small, large] {
        let this = std::env::current_exe().expect("this program");
        let said = Command::new(this).arg("fold").arg(log).output().expect("a child").stdout;
        print!("{}", String::from_utf8_lossy(&said));
    }
}

/// What a line of each kind costs, without a file.
fn kinds() {
    let step = StepId::parse("s7").expect("an id");
    let [start, _] = retried(&step, 3);
    let [_, success] = last(&step, 3);
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

/// Folds one log, and tells how much memory that took at most.
fn fold_and_weigh(log: &Path) -> String {
    let records = read(log);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    let mib = fs::metadata(log).expect("a log").len() / 1024 / 1024;
    format!("{mib} MiB, {records} records of {STEPS} steps: {} of memory", peak.trim())
}

/// Writes a log of one epoch whose steps fail so often before they succeed.
fn write(log: &Path, failures: u32) -> std::path::PathBuf {
    let ids: Vec<_> =
        (0..STEPS).map(|n| StepId::parse(&format!("step_{n}")).expect("an id")).collect();
    let failing = (0..failures)
        .flat_map(|n| ids.iter().flat_map(move |id| retried(id, n)))
        .chain(ids.iter().flat_map(|id| last(id, failures)));
    let events = std::iter::once(header(&ids)).chain(failing).map(|event| (0, event));
    RawLog::at(Arc::new(RealDisk), log).write(4_096, events).expect("room for a log");
    log.to_owned()
}

fn attempt(step: &StepId, retry_count: u32) -> Attempt {
    Attempt { step: step.clone(), retry_count, input_digest: Digest::of(step.as_str().as_bytes()) }
}

fn retried(step: &StepId, retry_count: u32) -> [Event; 2] {
    let attempt = attempt(step, retry_count);
    let end = End::Retrying {
        error: "no answer from 10.0.0.7:5432: connection refused (os error 111)".to_owned(),
        retry_at: Timestamp::from_unix_us(1_794_000_000_000_789),
        delay_ms: 30_000,
    };
    [
        Event::AttemptStarted(attempt.clone()),
        Event::AttemptEnded { attempt, duration_ms: Some(1_234), end },
    ]
}

fn last(step: &StepId, retry_count: u32) -> [Event; 2] {
    let attempt = attempt(step, retry_count);
    let end = End::Success { output_digest: Digest::of(b"null"), artifacts: <_>::default() };
    [
        Event::AttemptStarted(attempt.clone()),
        Event::AttemptEnded { attempt, duration_ms: Some(1_234), end },
    ]
}

fn header(ids: &[StepId]) -> Event {
    let retry = serde_json::json!({
        "policy": "fixed", "max_retries": 1_000_000, "delay_ms": 30_000, "cap_ms": null,
        "jitter": false,
    });
    let retry: RetryPolicy = serde_json::from_value(retry).expect("a policy");
    let step = |id: &StepId| HeaderStep {
        id: id.clone(),
        depends_on: vec![],
        optional: false,
        retry,
        timeout_ms: None,
        digest: Digest::of(b"definition"),
        version: 1,
    };
    Event::EpochOpened(Box::new(Header {
        schema: apollo::SCHEMA,
        apollo: "0.1.0".to_owned(),
        task: TaskName::parse("t").expect("a name"),
        task_id: TaskId::parse("t").expect("an id"),
        params: <_>::default(),
        graph_digest: Digest::of(b"graph"),
        max_parallel: 2,
        reason: OpenReason::Start,
        steps: ids.iter().map(step).collect(),
        rerun: vec![],
        resume_from: None,
        renamed: <_>::default(),
        warnings: vec![],
        host: "n1".to_owned(),
        pid: 1,
        program: None,
    }))
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    std::hint::black_box(work());
    began.elapsed()
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
