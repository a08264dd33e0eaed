//! Random logs with random snapshots: what a log adds up to is the same with and without.

use rustix::io::Errno;

use super::*;
use crate::disk::{Fault, Open, SimDisk};
use crate::log::snapshot::SnapshotError;
use crate::record::{ArtifactEntry, Closing, FailReason};
use crate::replay::RunState;

const LOG: &str = "/logs/task_t_1.jsonl";
const SNAPSHOT: &str = "/logs/task_t_1.jsonl.snapshot";

/// A sequence of numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % below
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.roll(one_in) == 0
    }
}

/// A log with its spill files, and the snapshots that were made of it: for how many records, up to
/// where, which bytes.
struct Written {
    files: Vec<(PathBuf, Vec<u8>)>,
    bytes: Vec<u8>,
    snapshots: Vec<(u64, usize, Vec<u8>)>,
}

/// An event that may come next, or may not: the fold decides.
fn guess(dice: &mut Dice, state: &RunState) -> (u32, Event) {
    let epoch = state.epoch();
    let n = dice.roll(5);
    let id = StepId::parse(&format!("s{n}")).unwrap();
    let step = state.by_id(id.as_str());
    let open = step.and_then(|step| step.open.clone());
    let attempt = Attempt {
        step: id.clone(),
        retry_count: open.as_ref().map_or(step.map_or(0, |step| step.attempts), |o| o.retry_count),
        input_digest: open.map_or_else(
            || Digest::of(&[u8::try_from(dice.roll(3)).unwrap()]),
            |open| open.input_digest,
        ),
    };
    let error = "e".repeat(usize::try_from(dice.roll(40)).unwrap() + 1);
    let end = match dice.roll(5) {
        0 => {
            let artifact = ArtifactEntry { digest: Digest::of(b"artifact"), bytes: n };
            let artifacts = [("a.csv".to_owned(), artifact)].into_iter();
            let artifacts = artifacts.filter(|_| n.is_multiple_of(2)).collect();
            End::Success { output_digest: Digest::of(error.as_bytes()), artifacts }
        }
        1 => End::Failed { error, reason: None },
        2 => End::Failed { error, reason: Some(FailReason::Stopped) },
        3 => End::Failed { error, reason: Some(FailReason::Interrupted) },
        _ => End::Retrying { error, retry_at: Timestamp::from_unix_us(7), delay_ms: 1_500 },
    };
    let event = match dice.roll(24) {
        0..11 => Event::AttemptStarted(attempt),
        11..21 => Event::AttemptEnded { attempt, duration_ms: Some(n), end },
        21 => Event::Skipped { step: id, attempts: attempt.retry_count, reason: "--skip".into() },
        22 => {
            let success = state.closing(0).success;
            let closing = Closing { success, ..state.closing(n) };
            return (epoch, Event::EpochClosed(Box::new(closing)));
        }
        _ => {
            let steps = dice.roll(4) + 2;
            let Event::EpochOpened(mut header) = header(usize::try_from(steps).unwrap()) else {
                panic!("a header opens an epoch")
            };
            header.rerun = (0..dice.roll(2)).map(|_| id.clone()).collect();
            // Now and then one that does not fit into its line.
            header.warnings = (0..dice.roll(12) / 11).map(|_| "w".repeat(70_000)).collect();
            header.resume_from = dice.is(3).then(|| id.clone());
            if dice.is(4) {
                header.renamed = [(StepId::parse("s1").unwrap(), id)].into();
            }
            if dice.is(2) {
                header.steps.reverse();
            }
            let opened = if state.header().is_some() { epoch + 1 } else { 0 };
            return (opened, Event::EpochOpened(header));
        }
    };
    (epoch, event)
}

/// Writes a log as an engine does: the fold goes along, some records are synced late, and a
/// snapshot is made of what a commit that syncs has brought to the disk.
fn write_random(dice: &mut Dice, records: u64) -> Written {
    let sim = disk_with(&[]);
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let (mut writer, mut file) = LogFile::create(&disk, Path::new(LOG)).unwrap();
    let mut state = RunState::default();
    let mut snapshots = Vec::new();
    while writer.next_seq() < records {
        let (epoch, event) = guess(dice, &state);
        let mut next = state.clone();
        let record = Record {
            timestamp: Timestamp::from_unix_us(i64::try_from(writer.next_seq()).unwrap()),
            seq: writer.next_seq(),
            epoch,
            durable: 0,
            prev: <_>::default(),
            event,
        };
        if next.apply(&record).is_err() {
            continue;
        }
        let sync = if dice.is(3) { Sync::Now } else { Sync::Batched };
        writer.append(record.timestamp, epoch, record.event, sync).unwrap();
        state = next;
        if dice.is(2) {
            continue;
        }
        let due = dice.is(6).then(|| Snapshot::new(writer.chain().clone(), state.clone()));
        let batch = writer.take();
        let synced = file.commit(&batch, due.is_some(), 2).unwrap();
        writer.committed(batch, synced);
        if let Some(snapshot) = due {
            let (records, end) = (snapshot.chain.records, snapshot.chain.end_bytes);
            let bytes = snapshot.encode("task_t_1.jsonl").unwrap();
            snapshots.push((records, usize::try_from(end).unwrap(), bytes));
        }
    }
    file.commit(&writer.take(), true, 0).unwrap();
    file.close().unwrap();
    Written { files: sim.files(), bytes: sim.read(LOG).unwrap(), snapshots }
}

/// A disk that has these files, all of them durable.
fn disk_with(files: &[(PathBuf, Vec<u8>)]) -> SimDisk {
    let disk = SimDisk::new(7);
    disk.create_dir(Path::new("/logs")).unwrap();
    for (path, bytes) in files {
        disk.write(path, bytes).unwrap();
        disk.open(path, Open::Write).unwrap().sync().unwrap();
    }
    disk.sync_dir(Path::new("/logs")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    disk.process()
}

/// What a resume makes of what is there: the fold, the judgement, and the bytes of the log behind
/// the seal and one more record.
type Resumed = Result<(RunState, Scan, Vec<u8>), String>;

fn resume(sim: &SimDisk) -> Resumed {
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let text = |error: ReadError| error.to_string();
    let mut log = UnsealedLog::open_locked(&disk, Path::new(LOG), &clock()).map_err(text)?;
    let (state, scan) = log.fold().map_err(text)?;
    let (mut writer, mut file, _) = log.seal(scan.clone()).map_err(|error| error.to_string())?;
    append(&mut writer, event(0), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    file.close().unwrap();
    Ok((state, scan, sim.read(LOG).unwrap()))
}

impl Written {
    /// Resumes what was written, with these bytes for the log and the snapshot.
    fn resume(&self, log: &[u8], snapshot: Option<&[u8]>) -> Resumed {
        let disk = disk_with(&self.files);
        disk.write(LOG, log).unwrap();
        if let Some(snapshot) = snapshot {
            disk.write(SNAPSHOT, snapshot).unwrap();
        }
        resume(&disk)
    }

    /// What comes of the whole log by itself.
    fn expected(&self) -> (RunState, Scan, Vec<u8>) {
        self.resume(&self.bytes, None).unwrap()
    }

    /// Resumes with a snapshot that is of no use: it must be as if there were none.
    fn ignores(&self, snapshot: &[u8]) {
        let found = self.resume(&self.bytes, Some(snapshot)).unwrap();
        assert_eq!(found.1.from_snapshot, 0);
        assert_eq!(found, self.expected());
    }
}

/// The same judgement, as of somebody who has read it all.
fn read_all_of(scan: Scan) -> Scan {
    Scan { from_snapshot: 0, ..scan }
}

#[test]
fn a_log_adds_up_to_the_same_with_and_without_its_snapshot() {
    let (mut used, mut refused, mut epochs) = (0, 0, 0);
    for seed in 0..50 {
        let mut dice = Dice(seed);
        let written = write_random(&mut dice, 60);
        for (records, end, snapshot) in &written.snapshots {
            let mut log = written.bytes.clone();
            // Cut anywhere, or with rubbish behind it, or with a bad byte behind the snapshot.
            match dice.roll(4) {
                0 => log.truncate(usize::try_from(dice.roll(log.len() as u64 + 1)).unwrap()),
                1 => log.extend(vec![0; usize::try_from(dice.roll(700)).unwrap()]),
                2 if *end < log.len() => {
                    let behind = (log.len() - end) as u64;
                    log[end + usize::try_from(dice.roll(behind)).unwrap()] ^= 0x11;
                }
                _ => {}
            }
            let without = written.resume(&log, None);
            let with = written.resume(&log, Some(snapshot));
            let place = format!("seed {seed}, {records} records, {} of {}", end, log.len());
            if log.len() < *end {
                let error = with.unwrap_err();
                assert!(error.contains("is corrupt") && error.contains("snapshot"), "{error}");
                refused += 1;
                continue;
            }
            match (with, without) {
                (Ok((state, scan, bytes)), Ok(expected)) => {
                    assert_eq!(scan.from_snapshot, *records, "{place}");
                    assert_eq!((state, read_all_of(scan), bytes), expected, "{place}");
                    epochs = epochs.max(expected.0.epoch());
                    used += 1;
                }
                (with, without) => assert_eq!(with, without, "{place}"),
            }
        }
    }
    assert!(used > 100 && refused > 10 && epochs > 5, "{used}, {refused}, {epochs}");
}

/// A log of many records and some snapshots.
fn some(seed: u64) -> Written {
    let written = write_random(&mut Dice(seed), 60);
    assert!(written.snapshots.len() > 1);
    written
}

#[test]
fn a_snapshot_is_ignored_when_it_is_empty_or_cut_at_any_byte() {
    let written = some(3);
    let (_, _, snapshot) = written.snapshots.last().unwrap();
    for cut in (0..snapshot.len()).step_by(97).chain(snapshot.len() - 30..snapshot.len()) {
        assert!(matches!(
            Snapshot::decode(&snapshot[..cut], "task_t_1.jsonl"),
            Err(SnapshotError::Crc)
        ));
    }
    for cut in [0, 1, 18, 19, snapshot.len() / 2, snapshot.len() - 1] {
        written.ignores(&snapshot[..cut]);
    }
}

#[test]
fn a_snapshot_is_ignored_when_a_byte_of_it_rots() {
    let written = some(3);
    let (_, _, snapshot) = written.snapshots.last().unwrap();
    for at in 0..snapshot.len() {
        let mut rotten = snapshot.clone();
        rotten[at] ^= 1 << (at % 8);
        let decoded = Snapshot::decode(&rotten, "task_t_1.jsonl");
        assert!(matches!(decoded, Err(SnapshotError::Crc)), "byte {at}");
        if at % 501 == 0 {
            written.ignores(&rotten);
        }
    }
}

/// The same snapshot with other words in it, and a right crc.
fn reworded(snapshot: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = std::str::from_utf8(snapshot).unwrap();
    let (body, _) = text.rsplit_once(",\"crc\":\"").unwrap();
    assert!(body.contains(from), "{from} in {body}");
    let body = body.replacen(from, to, 1);
    let crc = crate::record::Crc::of(body.as_bytes());
    format!("{body},\"crc\":\"{crc}\"}}\n").into_bytes()
}

#[test]
fn a_snapshot_is_ignored_when_it_is_of_another_run() {
    let written = some(3);
    let other = some(4);
    // Another run's, with its name and with this one's: then the first records differ.
    let theirs = &other.snapshots.last().unwrap().2;
    let named = reworded(theirs, "task_t_1.jsonl", "task_t_2.jsonl");
    written.ignores(&named);
    written.ignores(theirs);
    // A log without a record can't show that it is another one: only the name tells.
    let none = written.resume(b"", None).unwrap();
    assert_eq!(written.resume(b"", Some(&named)).unwrap(), none);
    // A log that was replaced by another one of its name, even by a shorter one.
    let starts = line_starts(&other.bytes);
    for lines in [1, 2, other.bytes.iter().filter(|byte| **byte == b'\n').count()] {
        let log = &other.bytes[..starts[lines]];
        let ours = &written.snapshots.last().unwrap().2;
        let found = other.resume(log, Some(ours)).unwrap();
        assert_eq!(found, other.resume(log, None).unwrap(), "{lines}");
    }
}

#[test]
fn a_snapshot_of_another_version_is_a_witness_and_no_more() {
    let written = some(3);
    let (records, end, snapshot) = written.snapshots.last().unwrap();
    let version = concat!("\"apollo\":\"", env!("CARGO_PKG_VERSION"), "\"");
    let strange = "\"state\":{\"strange\":true,";
    let newer = reworded(snapshot, version, "\"apollo\":\"9.0.0\"");
    for snapshot in [newer.clone(), reworded(&newer, "\"state\":{", strange)] {
        written.ignores(&snapshot);
        let error = written.resume(&written.bytes[..end - 1], Some(&snapshot)).unwrap_err();
        assert!(error.contains("corrupt at line ") && error.contains("synced"), "{error}");
    }
    // Another build of the same version, whose fold has other members.
    let other = reworded(snapshot, "\"interruptions\":", "\"deaths\":");
    written.ignores(&other);
    // A form that is not known may mean anything.
    let form = reworded(snapshot, "{\"snapshot\":1", "{\"snapshot\":2");
    written.ignores(&form);
    written.resume(&written.bytes[..end - 1], Some(&form)).unwrap();
    // Nor do numbers that contradict each other.
    for numbers in ["0", &(records + 1).to_string(), "18446744073709551615"] {
        let from = format!("\"records\":{records}");
        written.ignores(&reworded(snapshot, &from, &format!("\"records\":{numbers}")));
    }
}

#[test]
fn a_state_that_no_records_add_up_to_is_not_used() {
    let written = some(3);
    let (records, _, snapshot) = written.snapshots.last().unwrap();
    let other = format!("\"records\":{}}}", records - 1);
    for (from, to) in [
        // A step that the header does not list, and the fold of other records.
        ("\",\"definition\":", "x\",\"definition\":"),
        (&*format!("\"records\":{records}}}"), &*other),
    ] {
        written.ignores(&reworded(snapshot, from, to));
    }
}

#[test]
fn a_log_that_lacks_what_its_snapshot_stands_for_is_refused_at_its_end() {
    let written = some(5);
    let (records, end, snapshot) = written.snapshots.last().unwrap();
    let starts = line_starts(&written.bytes);
    for cut in (0..*end).step_by(1_313).chain(starts.iter().copied().filter(|start| start < end)) {
        let log = &written.bytes[..cut];
        let error = written.resume(log, Some(snapshot)).unwrap_err();
        let whole = starts.iter().rposition(|start| *start <= cut).unwrap();
        let place = format!("line {}, byte {}", whole + 1, starts[whole]);
        assert!(error.contains(&place), "cut at {cut}: {error}");
        if starts[whole] == cut {
            let lost = format!("without records {whole} to {}", records - 1);
            assert!(error.contains(&lost), "cut at {cut}: {error}");
        }
    }
    // Behind what the snapshot stands for, an end is an end.
    for cut in (*end..=written.bytes.len()).step_by(401) {
        let log = &written.bytes[..cut];
        let (state, scan, bytes) = written.resume(log, Some(snapshot)).unwrap();
        let expected = written.resume(log, None).unwrap();
        assert_eq!((state, read_all_of(scan), bytes), expected, "cut at {cut}");
    }
}

#[test]
fn damage_below_the_snapshot_is_met_by_a_whole_reading_and_never_cut() {
    let written = some(6);
    let (records, end, snapshot) = written.snapshots.last().unwrap();
    let starts = line_starts(&written.bytes);
    let whole = |log: &[u8]| {
        let disk = disk_with(&written.files);
        disk.write(LOG, log).unwrap();
        disk.write(SNAPSHOT, snapshot).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk);
        UnsealedLog::open(&disk, Path::new(LOG)).unwrap().scan(&mut |_record| Ok(()))
    };
    assert!(whole(&written.bytes).is_ok());
    for (line, start) in starts.iter().enumerate().filter(|(_, start)| *start < end) {
        let len = starts[line + 1] - start;
        for at in [*start, start + (line * 37) % len, start + len - 1] {
            // The log ends where its snapshot does, so no record vouches for its last ones.
            let mut log = written.bytes[..*end].to_vec();
            log[at] ^= 0x20;
            let found = whole(&log);
            let Err(ReadError::Corrupt { line: seen, offset_bytes, .. }) = found else {
                panic!("byte {at} is taken for {found:?}")
            };
            assert_eq!((seen, offset_bytes), (line as u64 + 1, *start as u64));
            let resumed = written.resume(&log, Some(snapshot));
            // A resume reads the first line, the snapshot's last one, and what is behind it.
            let read = line == 0 || line as u64 == records - 1;
            assert_eq!(resumed.is_err(), read, "line {line}");
        }
    }
}

#[test]
fn a_resume_reads_no_spill_file_of_a_header_below_the_snapshot() {
    let sim = disk_with(&[]);
    let disk: Arc<dyn Disk> = Arc::new(sim.clone());
    let (mut writer, mut file) = LogFile::create(&disk, Path::new(LOG)).unwrap();
    let mut state = RunState::default();
    state.apply(&append(&mut writer, header(1000), Sync::Now)).unwrap();
    state.apply(&append(&mut writer, event(0), Sync::Now)).unwrap();
    commit(&mut writer, &mut file).unwrap();
    Snapshot::new(writer.chain().clone(), state.clone()).write(&sim, Path::new(LOG)).unwrap();
    file.close().unwrap();
    sim.remove_file(Path::new("/logs/task_t_1.jsonl.0.steps.json")).unwrap();
    let mut log = UnsealedLog::open(&disk, Path::new(LOG)).unwrap();
    let (found, scan) = log.fold().unwrap();
    assert_eq!((found, scan.from_snapshot), (state, 2));
    let whole = log.scan(&mut |_record| Ok(()));
    assert!(matches!(whole, Err(ReadError::Corrupt { line: 1, .. })), "{whole:?}");
}

#[test]
fn whatever_befalls_its_writing_there_is_the_old_snapshot_or_the_new_one() {
    let written = some(7);
    let expected = written.expected();
    let [.., (old_records, _, old), (new_records, _, new)] = &*written.snapshots else {
        panic!("two snapshots")
    };
    let newer = Snapshot::decode(new, "task_t_1.jsonl").unwrap();
    let mut files = written.files.clone();
    files.push((PathBuf::from(SNAPSHOT), old.clone()));
    let check = |found: &SimDisk, place: &str| {
        let kept = found.read(SNAPSHOT).unwrap();
        assert!(kept == *old || kept == *new, "{place}");
        let (state, scan, bytes) = resume(found).unwrap();
        let records = if kept == *new { new_records } else { old_records };
        assert_eq!(scan.from_snapshot, *records, "{place}");
        assert_eq!((state, read_all_of(scan), bytes), expected, "{place}");
        kept == *new
    };
    for fault in [Fault::Dead, Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short] {
        for at in 1.. {
            let disk = disk_with(&files);
            disk.fault(at, fault);
            let done = newer.write(&disk, Path::new(LOG)).is_ok();
            for cut in 0..20 {
                let is_new = check(&disk.cut_power(), &format!("{fault:?} at {at}, cut {cut}"));
                assert!(is_new || !done, "{fault:?} at {at}, cut {cut}: what was written is kept");
            }
            check(&disk.kill(), &format!("{fault:?} at {at}"));
            if done {
                assert_eq!(at, 6, "create, write, sync, rename, sync of the directory");
                break;
            }
        }
    }
}

#[test]
fn a_file_that_is_too_long_for_a_snapshot_is_not_read() {
    let dir = TempDir::new();
    let log = log_in(&dir);
    write_log(&real(), &log, &[1]);
    fs::File::create(Snapshot::path(&log)).unwrap().set_len(1 << 40).unwrap();
    let found = Snapshot::read(&*real(), &log);
    assert!(matches!(found, Err(SnapshotError::TooLong { .. })), "{found:?}");
    assert_eq!(scan(&log).unwrap().0.len(), 2);
}

#[test]
fn a_snapshot_grows_with_the_steps_and_not_with_the_log() {
    let length_after = |attempts: u32| {
        let disk: Arc<dyn Disk> = Arc::new(disk_with(&[]));
        let (mut writer, mut file) = LogFile::create(&disk, Path::new(LOG)).unwrap();
        let mut state = RunState::default();
        state.apply(&append(&mut writer, header(1), Sync::Now)).unwrap();
        let attempt = |retry_count| {
            let (step, input_digest) = (StepId::parse("s0").unwrap(), Digest::of(b"in"));
            Attempt { step, retry_count, input_digest }
        };
        for n in 0..attempts {
            let retry_at = Timestamp::from_unix_us(1);
            let end = End::Retrying { error: "again".to_owned(), retry_at, delay_ms: 1 };
            let ended = Event::AttemptEnded { attempt: attempt(n), duration_ms: Some(1), end };
            for event in [Event::AttemptStarted(attempt(n)), ended] {
                state.apply(&append(&mut writer, event, Sync::Batched)).unwrap();
            }
            if n % 32 == 31 {
                commit(&mut writer, &mut file).unwrap();
            }
        }
        let snapshot = Snapshot::new(writer.chain().clone(), state);
        (snapshot.chain.end_bytes, snapshot.encode("task_t_1.jsonl").unwrap().len())
    };
    let (short_log, short) = length_after(64);
    let (long_log, long) = length_after(6_400);
    assert!(long_log > 90 * short_log, "{short_log} and {long_log}");
    // Only the digits of the numbers in it grow.
    assert!(long < short + short / 4, "{short} and {long} bytes");
}

#[test]
fn a_snapshot_is_one_line_of_json_that_a_person_can_look_at() {
    let disk: Arc<dyn Disk> = Arc::new(disk_with(&[]));
    let (mut writer, mut file) = LogFile::create(&disk, Path::new(LOG)).unwrap();
    let mut state = RunState::default();
    state.apply(&append(&mut writer, header(2), Sync::Now)).unwrap();
    state.apply(&append(&mut writer, event(0), Sync::Now)).unwrap();
    commit(&mut writer, &mut file).unwrap();
    let snapshot = Snapshot::new(writer.chain().clone(), state);
    snapshot.write(&*disk, Path::new(LOG)).unwrap();
    let bytes = crate::disk::read_all(&*disk, Path::new(SNAPSHOT)).unwrap();
    assert_eq!(bytes.iter().position(|byte| *byte == b'\n'), Some(bytes.len() - 1));
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&value["snapshot"], &value["log"]), (&1.into(), &"task_t_1.jsonl".into()));
    assert_eq!(value["chain"]["records"], 2);
    assert_eq!(value["chain"]["end_bytes"], disk.metadata(Path::new(LOG)).unwrap().len);
    assert_eq!(value["state"]["steps"][0]["status"], "RUNNING");
    assert_eq!(Snapshot::read(&*disk, Path::new(LOG)).unwrap(), Some(snapshot));
}
