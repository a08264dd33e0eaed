//! A small log, written through the door, for the tests of every file here.

#![expect(clippy::disallowed_methods, reason = "tests look at the file system past the door")]

mod commit;
mod corrupt;
mod crash;
mod repair;
mod snapshot;
mod torn;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::clock::SimClock;
use crate::digest::Digest;
use crate::disk::{Disk, RealDisk, TempDir};
use crate::id::{StepId, TaskId, TaskName};
use crate::policy::Retry;
use crate::record::{Attempt, End, Event, Header, HeaderStep, OpenReason, Record, SCHEMA};
use crate::time::Timestamp;

fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn log_in(dir: &TempDir) -> PathBuf {
    dir.path().join("task_t_1.jsonl")
}

fn header(steps: usize) -> Event {
    let step = |n| HeaderStep {
        id: StepId::parse(&format!("s{n}")).unwrap(),
        depends_on: vec![],
        optional: false,
        retry: Retry::NONE.resolve(3, std::time::Duration::from_secs(1)),
        timeout_ms: None,
        digest: Digest::of(b"def"),
        version: 1,
    };
    Event::EpochOpened(Box::new(Header {
        schema: SCHEMA,
        apollo: "0.1.0".to_owned(),
        task: TaskName::parse("t").unwrap(),
        task_id: TaskId::parse("t").unwrap(),
        params: <_>::default(),
        graph_digest: Digest::of(b"graph"),
        max_parallel: 2,
        reason: OpenReason::Start,
        resume_from: None,
        steps: (0..steps).map(step).collect(),
        rerun: vec![],
        renamed: <_>::default(),
        warnings: vec![],
        host: "n1".to_owned(),
        pid: 1,
        program: None,
    }))
}

/// The `n`-th event of a log that goes on for ever.
fn event(n: u32) -> Event {
    let attempt = Attempt {
        step: StepId::parse("s0").unwrap(),
        retry_count: n / 2,
        input_digest: Digest::of(b"in"),
    };
    if n.is_multiple_of(2) {
        return Event::AttemptStarted(attempt);
    }
    let error = format!("failed with {{\"timestamp\":\"{n}");
    Event::AttemptEnded { attempt, duration_ms: Some(5), end: End::Failed { error, reason: None } }
}

fn append(writer: &mut LogWriter, event: Event, sync: Sync) -> Record {
    writer.append(Timestamp::from_unix_us(1_794_000_000_000_789), 0, event, sync).unwrap()
}

/// Commits what waits; tells whether it was synced.
fn commit(writer: &mut LogWriter, file: &mut LogFile) -> Result<bool, LogError> {
    let batch = writer.take();
    let synced = file.commit(&batch, false, 1)?;
    writer.committed(batch, synced);
    Ok(synced)
}

/// Writes a header, and then commits of so many records, all synced. The room stays reserved, as
/// a killed process leaves it.
fn write_log(disk: &Arc<dyn Disk>, path: &Path, commits: &[u32]) -> Vec<u8> {
    let (mut writer, mut file) = LogFile::create(disk, path).unwrap();
    append(&mut writer, header(1), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    let mut n = 0;
    for records in commits {
        for _ in 0..*records {
            append(&mut writer, event(n), Sync::Now);
            n += 1;
        }
        commit(&mut writer, &mut file).unwrap();
    }
    fs::read(path).unwrap()
}

/// Where each line begins, and where the last one ends.
fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    [0].into_iter().chain(newlines.map(|(at, _)| at + 1)).collect()
}

fn scan(path: &Path) -> Result<(Vec<Record>, Scan), ReadError> {
    let mut records = Vec::new();
    let scan = UnsealedLog::open(&real(), path)?.scan(&mut |record| {
        records.push(record);
        Ok(())
    })?;
    Ok((records, scan))
}

/// A clock that nobody has to wait for.
fn clock() -> SimClock {
    SimClock::new(Timestamp::from_unix_us(0))
}

type Recovered = (u64, LogWriter, LogFile, Option<SealedTail>);

/// Opens, reads and seals a log, as a resume does.
fn recover(disk: &Arc<dyn Disk>, path: &Path) -> Result<Recovered, String> {
    let mut log =
        UnsealedLog::open_locked(disk, path, &clock()).map_err(|error| error.to_string())?;
    let scan = log.scan(&mut |_record| Ok(())).map_err(|error| error.to_string())?;
    let records = scan.records;
    let (writer, file, sealed) = log.seal(scan).map_err(|error| error.to_string())?;
    Ok((records, writer, file, sealed))
}
