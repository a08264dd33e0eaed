//! Snapshots: written when they are due, used when they fit, and never needed.
//!
//! The story of the bug: a cache that is believed is a second truth. So each test here compares a run
//! that has a snapshot, whole or spoiled, with one that has none.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apollo::testing::{CrashDisk, Fault, Hook, HookDisk, Op, Operation, SimClock, SimDisk};
use apollo::{
    AdmissionError, Disk as _, Event, Notice, Observer, ReadError, Record, RunError, RunOptions,
    RunState, Status, Task, Timestamp, step, task,
};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::disk::TestDisk;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::{ran, script};
use apollo_tests::pipelines::crashing::crashing;
use apollo_tests::pipelines::scripted::{diamond, row};
use apollo_tests::pipelines::thousand::{thousand_in_a_row, thousand_side_by_side};
use rustix::io::Errno;
const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

fn clock() -> Arc<SimClock> {
    Arc::new(SimClock::new(Timestamp::from_unix_us(1_794_000_000_000_000)))
}

/// One step after the other, on a clock that stands still: the same bytes each time.
fn options(dir: &Dir, every: u64) -> RunOptions {
    let options = RunOptions::new().dir(dir.apollo()).disk(TestDisk::quick()).clock(clock());
    options.max_parallel(1).snapshot_every(every)
}

/// The only snapshot in a directory, where there is one.
fn snapshot_path(dir: &Dir) -> PathBuf {
    let log = dir.only_log();
    log.with_file_name(format!("{}.snapshot", log.file_name().unwrap().to_str().unwrap()))
}

/// For how many records a snapshot stands, by its first bytes; 0 where there is none.
fn records_of(snapshot: &Path) -> u64 {
    let mut start = [0; 512];
    let read = fs::File::open(snapshot).and_then(|mut file| file.read(&mut start));
    read.map_or(0, |read| said_records(&start[..read]))
}

fn said_records(snapshot: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(snapshot);
    let (_, records) = text.split_once("\"chain\":{\"records\":").unwrap();
    records.split(',').next().unwrap().parse().unwrap()
}

/// What a resume would begin with.
fn state(task: &Task, dir: &Dir) -> RunState {
    task.plan(&options(dir, 1)).unwrap().state
}

/// The snapshot is used, since damage in the log's second line is not met, and the state that it
/// makes is that of the log without it.
fn fits(task: &Task, dir: &Dir) {
    let (log, path) = (dir.only_log(), snapshot_path(dir));
    let (whole, snapshot) = (fs::read(&log).unwrap(), fs::read(&path).unwrap());
    let with = state(task, dir);
    let mut damaged = whole.clone();
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    damaged[second + 40] ^= 1;
    fs::write(&log, damaged).unwrap();
    assert_eq!(with, state(task, dir));
    fs::write(&log, whole).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(with, state(task, dir));
    fs::write(&path, snapshot).unwrap();
}

/// Puts everything in a directory back as it was.
fn put_back(dir: &Dir, everything: &[(String, Vec<u8>)]) {
    fs::remove_dir_all(dir.path()).unwrap();
    for (name, bytes) in everything {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// A row whose third step failed: eight records, and a snapshot of the first six.
fn failed(word: &str) -> Dir {
    let dir = Dir::new(word);
    script(&dir, "third", "fail");
    assert!(matches!(row().run(&options(&dir, 6)), Err(RunError::Failed { .. })));
    script(&dir, "third", "");
    ran(&dir);
    assert_eq!(records_of(&snapshot_path(&dir)), 6);
    dir
}

/// Changes something, resumes a row, without writing more snapshots, and puts all back; gives the
/// bytes that the log had at the end.
fn finished(dir: &Dir, change: impl Fn()) -> Vec<u8> {
    let before = dir.everything();
    change();
    let summary = row().run(&options(dir, 1_000)).unwrap();
    assert_eq!((summary.status, summary.epoch), (Status::Success, 1));
    assert_eq!(ran(dir), ["third 1"]);
    let bytes = fs::read(dir.only_log()).unwrap();
    put_back(dir, &before);
    bytes
}

/// Why a row is refused, and that nothing of it was changed.
fn refused(dir: &Dir) -> ReadError {
    let before = dir.everything();
    let result = row().run(&options(dir, 1_000));
    let Err(RunError::Admission(AdmissionError::Read { source })) = result else {
        panic!("{result:?}")
    };
    let unlocked = |all: Vec<(String, Vec<u8>)>| {
        all.into_iter().filter(|(name, _)| !name.ends_with(".lock")).collect::<Vec<_>>()
    };
    assert_eq!(unlocked(dir.everything()), unlocked(before));
    source
}

/// Notes for how many records the snapshot stands while each record is told, and does something
/// with the record.
struct Watcher<F> {
    seen: Mutex<Vec<u64>>,
    log: Mutex<PathBuf>,
    warnings: Mutex<Vec<String>>,
    act: F,
}

impl<F> std::fmt::Debug for Watcher<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

impl<F: Fn(&Path, Option<&Record>) + Send + Sync> Watcher<F> {
    fn new(act: F) -> Arc<Self> {
        Arc::new(Self { seen: <_>::default(), log: <_>::default(), warnings: <_>::default(), act })
    }

    /// For how many records the snapshots stood, each once.
    fn snapshots(&self) -> Vec<u64> {
        let mut seen = self.seen.lock().unwrap().clone();
        seen.dedup();
        seen.retain(|records| *records > 0);
        seen
    }
}

impl<F: Fn(&Path, Option<&Record>) + Send + Sync> Observer for Watcher<F> {
    fn notice(&self, notice: Notice<'_>) {
        match notice {
            Notice::Log(path) => {
                let name = format!("{}.snapshot", path.file_name().unwrap().to_str().unwrap());
                let snapshot = path.with_file_name(name);
                (self.act)(&snapshot, None);
                *self.log.lock().unwrap() = snapshot;
            }
            Notice::Record(record) => {
                let snapshot = self.log.lock().unwrap().clone();
                self.seen.lock().unwrap().push(records_of(&snapshot));
                (self.act)(&snapshot, Some(record));
            }
            Notice::Warning(text) => self.warnings.lock().unwrap().push(text.to_owned()),
            _ => {}
        }
    }
}

#[test]
fn one_is_due_after_so_many_records() {
    let dir = Dir::new("due");
    // Two records a commit, so the third one is in the second commit.
    let watcher = Watcher::new(|_, _| {});
    let watched = options(&dir, 3).observer(watcher.clone());
    diamond().run(&watched).unwrap();
    let every_four: Vec<_> = (1..=4).map(|n| n * 4).collect();
    assert_eq!(watcher.snapshots(), every_four, "of 18 records");
    fits(&diamond(), &dir);
    judge(&dir.logs());
}

#[test]
fn one_is_due_after_five_minutes_when_there_is_something_new() {
    let (dir, clock) = (Dir::new("minutes"), clock());
    let hands = Arc::clone(&clock);
    let watcher = Watcher::new(move |_, record| {
        // Each step takes three minutes.
        if let Some(Record { event: Event::AttemptStarted(_), .. }) = record {
            hands.advance(Duration::from_secs(180));
        }
    });
    let watched = options(&dir, 1_000).clock(clock).observer(watcher.clone());
    diamond().run(&watched).unwrap();
    // Two records a commit; the third one comes after six minutes, and is told before the snapshot
    // is written, so three more have to pass until five minutes are over again.
    assert_eq!(watcher.snapshots(), [6, 12]);
    assert_eq!(records_of(&snapshot_path(&dir)), 18);
    fits(&diamond(), &dir);
}

#[test]
fn a_short_run_has_none() {
    let dir = Dir::new("short");
    let disk = Arc::new(CrashDisk::new(TestDisk::quick(), 0, Fault::Dead));
    let by_default = RunOptions::new().dir(dir.apollo()).disk(disk).clock(clock());
    row().run(&by_default).unwrap();
    assert!(!snapshot_path(&dir).exists());
}

#[test]
fn a_resume_reads_only_what_is_behind_the_snapshot() {
    let dir = failed("tail");
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    let expected = finished(&dir, || {});
    // The third line, of the first step's end: the resume has no need to look at it.
    let third: usize = bytes.split_inclusive(|b| *b == b'\n').take(2).map(<[u8]>::len).sum();
    let mut damaged = bytes.clone();
    damaged[third + 40] ^= 1;
    let damage = || fs::write(&log, &damaged).unwrap();
    let resumed = finished(&dir, damage);
    assert_eq!(resumed[bytes.len()..], expected[bytes.len()..], "the same records follow");
    // Who reads it all finds the damage, and so does a resume without the snapshot.
    damage();
    let told = output(&mut pipelines(PROGRAM, dir.path(), &["verify", "row"]));
    assert_eq!(told.status.code(), Some(3), "{}", said(&told));
    assert!(said(&told).contains(&format!("line 3, byte {third}")), "{}", said(&told));
    fs::remove_file(snapshot_path(&dir)).unwrap();
    assert!(matches!(refused(&dir), ReadError::Corrupt { line: 3, .. }));
}

#[test]
fn deleting_it_changes_no_byte_of_what_follows() {
    let dir = failed("deleted");
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    let delete = || fs::remove_file(snapshot_path(&dir)).unwrap();
    assert!(finished(&dir, delete) == finished(&dir, || {}));
    // Neither does it where an end is sealed.
    let tear = || fs::write(&log, &bytes[..bytes.len() - 7]).unwrap();
    let torn = finished(&dir, tear);
    let text = String::from_utf8_lossy(&torn);
    assert!(text.contains("torn tail"));
    let both = finished(&dir, || {
        tear();
        delete();
    });
    assert!(both == torn);
}

#[test]
fn half_written_empty_or_rotten_it_is_ignored() {
    let dir = failed("spoiled");
    let expected = finished(&dir, || {});
    let whole = fs::read(snapshot_path(&dir)).unwrap();
    let path = snapshot_path(&dir);
    let put = |bytes: &[u8]| finished(&dir, || fs::write(&path, bytes).unwrap());
    for len in (0..whole.len()).step_by(499).chain([whole.len() - 1]) {
        assert!(put(&whole[..len]) == expected, "cut at {len}");
    }
    for at in (0..whole.len()).step_by(499) {
        let mut rotten = whole.clone();
        rotten[at] ^= 0x04;
        assert!(put(&rotten) == expected, "byte {at}");
    }
    assert!(put(&vec![0; whole.len()]) == expected, "NULs");
    let as_directory = finished(&dir, || {
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
    });
    assert!(as_directory == expected, "a directory of that name");
}

#[test]
fn one_of_another_run_is_ignored() {
    let dir = failed("foreign");
    let expected = finished(&dir, || {});
    let other = Dir::new("other");
    diamond().run(&options(&other, 3)).unwrap();
    let diamonds = fs::read(snapshot_path(&other)).unwrap();
    // A later run of the same task: its log has another name.
    let later = Dir::new("later");
    let wall = Timestamp::from_unix_us(1_794_000_009_000_000);
    row().run(&options(&later, 6).clock(Arc::new(SimClock::new(wall)))).unwrap();
    let laters = fs::read(snapshot_path(&later)).unwrap();
    // Another log of the same name: it begins with another record.
    let twin = Dir::new("twin");
    row().run(&options(&twin, 6).max_parallel(2)).unwrap();
    assert_eq!(twin.only_log().file_name(), dir.only_log().file_name());
    let twins = fs::read(snapshot_path(&twin)).unwrap();
    for foreign in [diamonds, laters, twins] {
        let found = finished(&dir, || fs::write(snapshot_path(&dir), &foreign).unwrap());
        assert!(found == expected);
    }
}

#[test]
fn one_that_is_newer_than_the_log_refuses_it_with_what_is_lost() {
    let dir = failed("newer");
    let log = dir.only_log();
    let old = fs::read(&log).unwrap();
    row().run(&options(&dir, 2)).unwrap();
    let records = records_of(&snapshot_path(&dir));
    let new = fs::read(&log).unwrap();
    assert_eq!((Log::read(&log).records.len(), records), (12, 12));
    // Somebody puts an older copy back.
    fs::write(&log, &old).unwrap();
    let error = refused(&dir);
    let ReadError::Corrupt { line, offset_bytes, reason, because, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!((*line, *offset_bytes), (9, old.len() as u64));
    assert!(reason.contains("without records 8 to 11") && because.contains("synced"), "{error}");
    for command in [&["run", "row"][..], &["verify", "row"], &["inspect", "row"]] {
        let told = output(&mut pipelines(PROGRAM, dir.path(), command));
        assert_eq!(told.status.code(), Some(3), "{command:?}: {}", said(&told));
        assert!(said(&told).contains("without records 8 to 11"), "{}", said(&told));
    }
    // At each place where it could end.
    for len in (0..new.len()).step_by(97) {
        fs::write(&log, &new[..len]).unwrap();
        assert!(matches!(refused(&dir), ReadError::Corrupt { .. }), "{len} bytes");
    }
    // Whole again, it is fine; and who knows better can remove the snapshot.
    fs::write(&log, &new).unwrap();
    assert!(row().run(&options(&dir, 4)).unwrap().already_done);
    fs::write(&log, &old).unwrap();
    fs::remove_file(snapshot_path(&dir)).unwrap();
    assert_eq!(row().run(&options(&dir, 4)).unwrap().status, Status::Success);
    judge(&dir.logs());
}

#[test]
fn one_that_is_older_than_a_cut_log_is_used_up_to_where_it_stands() {
    let dir = failed("older");
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let kept: usize = lines[..6].iter().map(|line| line.len()).sum();
    let before = dir.everything();
    fs::write(&log, &bytes[..kept - 1]).unwrap();
    assert!(matches!(refused(&dir), ReadError::Corrupt { line: 6, .. }));
    for len in (kept..bytes.len()).step_by(61) {
        put_back(&dir, &before);
        fs::write(&log, &bytes[..len]).unwrap();
        let with = state(&row(), &dir);
        fits(&row(), &dir);
        assert!(with.records() >= 6, "cut at {len}");
        row().run(&options(&dir, 1_000)).unwrap();
    }
    judge(&dir.logs());
}

#[test]
fn rot_in_the_last_commit_is_no_torn_tail_where_the_snapshot_vouches_for_it() {
    let dir = Dir::new("vouched");
    script(&dir, "third", "fail");
    assert!(row().run(&options(&dir, 8)).is_err());
    assert_eq!(records_of(&snapshot_path(&dir)), 8, "all there are");
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let last: usize = lines[..7].iter().map(|line| line.len()).sum();
    for at in (last..bytes.len()).step_by(31) {
        let mut rotten = bytes.clone();
        rotten[at] ^= 0x20;
        fs::write(&log, rotten).unwrap();
        let error = refused(&dir);
        let ReadError::Corrupt { line: 8, because, .. } = &error else { panic!("{error:?}") };
        assert!(because.contains("snapshot"), "{because}");
    }
}

#[test]
fn it_carries_the_fold_over_two_resumes() {
    let dir = Dir::new("epochs");
    script(&dir, "g", "fail");
    assert!(diamond().run(&options(&dir, 4)).is_err());
    let first = records_of(&snapshot_path(&dir));
    fits(&diamond(), &dir);
    assert!(diamond().run(&options(&dir, 4)).is_err());
    fits(&diamond(), &dir);
    let second = records_of(&snapshot_path(&dir));
    script(&dir, "g", "");
    let summary = diamond().run(&options(&dir, 4)).unwrap();
    assert_eq!((summary.status, summary.epoch), (Status::Success, 2));
    fits(&diamond(), &dir);
    let third = records_of(&snapshot_path(&dir));
    assert!(0 < first && first < second && second < third, "{first}, {second}, {third}");
    judge(&dir.logs());
}

#[test]
fn who_only_looks_sees_the_same_with_and_without_it_and_writes_nothing() {
    let dir = failed("looks");
    let before = dir.everything();
    let look = |command: &[&str]| {
        let told = output(&mut pipelines(PROGRAM, dir.path(), command));
        assert_eq!(told.status.code(), Some(0), "{command:?}: {}", said(&told));
        said(&told)
    };
    let commands: [&[&str]; 5] = [
        &["list"],
        &["inspect", "--json"],
        &["inspect", "row", "--json"],
        &["verify", "row", "--json"],
        &["run", "row", "--dry-run", "--json"],
    ];
    let with: Vec<_> = commands.into_iter().map(look).collect();
    assert_eq!(before, dir.everything());
    fs::remove_file(snapshot_path(&dir)).unwrap();
    let without: Vec<_> = commands.into_iter().map(look).collect();
    assert_eq!(with, without);
}

#[test]
fn killed_at_every_operation_with_snapshots_on_the_way_the_next_run_finishes() {
    let whole = Dir::new("whole");
    let disk = Arc::new(CrashDisk::new(TestDisk::quick(), 0, Fault::Dead));
    crashing().run(&options(&whole, 3).disk(disk.clone())).unwrap();
    let operations = disk.operations();
    let (mut dirs, mut of_snapshots) = (Vec::new(), 0);
    for at in 1..=operations {
        let dir = Dir::new("dead");
        let disk = Arc::new(CrashDisk::new(TestDisk::quick(), at, Fault::Dead));
        drop(crashing().run(&options(&dir, 3).disk(disk.clone())));
        let met = disk.met().map(|(_, path)| path.display().to_string()).unwrap_or_default();
        of_snapshots += u32::from(met.contains(".snapshot"));
        let summary = crashing().run(&options(&dir, 3)).unwrap_or_else(|error| {
            panic!("dead at {at}, {met}: {error:?}");
        });
        assert_eq!(summary.status, Status::Success, "dead at {at}, {met}");
        for folder in ["artifacts", "state"] {
            assert_eq!(dir.content(folder), whole.content(folder), "dead at {at}, {met}");
        }
        fits(&crashing(), &dir);
        dirs.push(dir);
    }
    judge(&dirs.iter().map(Dir::only_log).collect::<Vec<_>>());
    println!("dead at {operations} operations, {of_snapshots} of them of a snapshot");
    assert!(of_snapshots >= 12);
}

#[test]
fn one_that_cannot_be_written_is_a_warning_and_nothing_else() {
    let failing = |at: u64, fault: Fault| {
        let dir = Dir::new("unwritten");
        let disk = Arc::new(CrashDisk::new(TestDisk::quick(), at, fault));
        let watcher = Watcher::new(|_, _| {});
        let result = row().run(&options(&dir, 4).disk(disk.clone()).observer(watcher.clone()));
        let met = disk.met().map(|(_, path)| path.display().to_string()).unwrap_or_default();
        let warnings = watcher.warnings.lock().unwrap().clone();
        (dir, met.contains(".snapshot"), result, warnings, disk.operations())
    };
    let (.., operations) = failing(0, Fault::Dead);
    let is_of_snapshot = |at: &u64| failing(*at, Fault::Dead).1;
    let of_snapshots: Vec<_> = (1..=operations).filter(is_of_snapshot).collect();
    assert_eq!(of_snapshots.len(), 8, "create, write, sync and rename of two");
    let mut dirs = Vec::new();
    for fault in [Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short] {
        for at in &of_snapshots {
            let (dir, _, result, warnings, _) = failing(*at, fault);
            assert_eq!(result.unwrap().status, Status::Success, "{fault:?} at {at}");
            assert_eq!(warnings.len(), 1, "{fault:?} at {at}: {warnings:?}");
            assert!(warnings[0].contains("snapshot") && warnings[0].contains("goes on"));
            fits(&row(), &dir);
            dirs.push(dir);
        }
    }
    judge(&dirs.iter().map(Dir::only_log).collect::<Vec<_>>());
    // Again and again: it is said once.
    let dir = Dir::new("never");
    let watcher = Watcher::new(|snapshot: &Path, record| {
        if record.is_none() {
            let name = format!(".{}.tmp", snapshot.file_name().unwrap().to_str().unwrap());
            fs::create_dir(snapshot.with_file_name(name)).unwrap();
        }
    });
    diamond().run(&options(&dir, 2).observer(watcher.clone())).unwrap();
    assert_eq!(watcher.warnings.lock().unwrap().len(), 1);
    assert!(!snapshot_path(&dir).exists());
}

macro_rules! chain {
    ($first:ident $($name:ident < $before:ident)*) => {
        #[step]
        fn $first() -> u64 {
            1
        }
        $(
            #[step(depends_on = [$before])]
            fn $name($before: &u64) -> u64 {
                $before * 3
            }
        )*
        task! { each { max_parallel: 1, steps: [$first, $($name),*] } }
        task! { late { max_parallel: 1, durability: batch, steps: [$first, $($name),*] } }
    };
}

chain!(k0 k1 < k0 k2 < k1 k3 < k2 k4 < k3);

fn simulated(disk: &SimDisk) -> RunOptions {
    let options = RunOptions::new().dir("/.apollo").disk(Arc::new(disk.clone()));
    options.clock(clock()).snapshot_every(3)
}

/// What holds after a fault and a power cut: the run goes on, so no snapshot stands for a record that
/// is gone, and the state is the same without it.
fn finishes(task: &Task, cut: &SimDisk, place: &str) -> Vec<u8> {
    // What a power cut left is durable, so another one gives the same disk once more.
    let (disk, bare) = (cut.cut_power(), cut.cut_power());
    let logs = Path::new("/.apollo/logs");
    for name in bare.list(logs).unwrap_or_default() {
        if name.ends_with(".snapshot") {
            bare.remove_file(&logs.join(name)).unwrap();
        }
    }
    let state = |disk: &SimDisk| task.plan(&simulated(disk)).map(|plan| plan.state);
    let with = state(&disk).unwrap_or_else(|error| panic!("{place}: {error:?}"));
    assert_eq!(with, state(&bare).unwrap(), "{place}");
    for disk in [&disk, &bare] {
        let summary = task.run(&simulated(disk));
        let summary = summary.unwrap_or_else(|error| panic!("{place}: {error:?}"));
        assert_eq!(summary.status, Status::Success, "{place}");
    }
    let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    let log = disk.files().into_iter().find(|(path, _bytes)| is_log(path));
    log.unwrap_or_else(|| panic!("{place}: no log")).1
}
/// Looks at the disk whenever a snapshot gets its name: for how many records it stands, and how many
/// the log would have if the power were cut.
#[derive(Debug)]
struct Named {
    disk: SimDisk,
    seen: Mutex<Vec<(u64, u64)>>,
}

impl Hook for Named {
    fn ended(&self, operation: &Operation<'_>, _how: &std::io::Result<()>) {
        if operation.what == Op::Rename
            && operation.path.extension().is_some_and(|e| e == "snapshot")
        {
            let snapshot = self.disk.read(operation.path).unwrap();
            let log = self.disk.durable(operation.path.with_extension("")).unwrap();
            let durable = log.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.seen.lock().unwrap().push((said_records(&snapshot), durable));
        }
    }
}

#[test]
fn with_durability_batch_it_stands_only_for_what_is_synced() {
    for task in [each(), late()] {
        let disk = SimDisk::new(1);
        let named = Arc::new(Named { disk: disk.clone(), seen: <_>::default() });
        let hooked = HookDisk::new(Arc::new(disk.clone()), named.clone());
        task.run(&simulated(&disk).disk(Arc::new(hooked))).unwrap();
        let seen = named.seen.lock().unwrap();
        assert!(seen.len() > 1, "{seen:?}");
        assert!(seen.iter().all(|(records, durable)| records <= durable), "{seen:?}");
    }
}

#[test]
fn no_power_cut_leaves_one_that_stands_for_a_record_that_is_gone() {
    let (dir, mut logs, mut cuts) = (Dir::new("cuts"), Vec::new(), 0);
    for task in [each(), late()] {
        let whole = SimDisk::new(0);
        task.run(&simulated(&whole)).unwrap();
        for at in 1..=whole.operations() {
            for fault in [Fault::Dead, Fault::Fail(Errno::IO)] {
                let disk = SimDisk::new(at);
                disk.fault(at, fault);
                drop(task.run(&simulated(&disk)));
                for cut in 0..2 {
                    let place = format!("{} {fault:?} at {at}, cut {cut}", task.name());
                    let log = finishes(&task, &disk.cut_power(), &place);
                    if cuts % 8 == 0 {
                        logs.push(dir.path().join(format!("{cuts}.jsonl")));
                        fs::write(logs.last().unwrap(), log).unwrap();
                    }
                    cuts += 1;
                }
            }
        }
    }
    println!("{cuts} power cuts; the independent reader: {:?}", judge(&logs));
}

#[test]
fn a_chain_of_a_thousand_steps_goes_on_from_its_newest_one() {
    let dir = Dir::new("thousand");
    let disk = Arc::new(CrashDisk::new(TestDisk::quick(), 1_500, Fault::Dead));
    let died = thousand_in_a_row().run(&options(&dir, 100).disk(disk));
    assert!(died.is_err());
    let records = records_of(&snapshot_path(&dir));
    let lines = Log::read(&dir.only_log()).records.len() as u64;
    assert!(records > 500 && records + 104 > lines, "{records} of {lines} records");
    fits(&thousand_in_a_row(), &dir);
    let summary = thousand_in_a_row().run(&options(&dir, 100)).unwrap();
    assert_eq!((summary.status, summary.epoch), (Status::Success, 1));
    fits(&thousand_in_a_row(), &dir);
    judge(&dir.logs());
}

#[test]
fn while_sixteen_steps_run_at_once_it_is_the_fold_of_just_its_records() {
    let dir = Dir::new("side");
    // Whoever looks at any moment sees a snapshot that the log fits.
    let looked = Arc::new(Mutex::new(0));
    let (apollo, count) = (dir.apollo(), Arc::clone(&looked));
    let watcher = Watcher::new(move |snapshot: &Path, record: Option<&Record>| {
        if record.is_some_and(|record| record.seq % 150 == 7) {
            if let Ok(bytes) = fs::read(snapshot) {
                let folded = format!("\"records\":{}}},\"crc\"", said_records(&bytes));
                assert!(String::from_utf8(bytes).unwrap().contains(&folded), "{folded}");
            }
            let options = RunOptions::new().dir(&apollo).disk(TestDisk::quick());
            let state = thousand_side_by_side().plan(&options).unwrap().state;
            assert!(state.records() > 0);
            *count.lock().unwrap() += 1;
        }
    });
    let options = options(&dir, 100).max_parallel(16).observer(watcher.clone());
    thousand_side_by_side().run(&options).unwrap();
    assert!(watcher.snapshots().len() > 1, "{:?}", watcher.snapshots());
    assert_eq!(*looked.lock().unwrap(), 14);
    fits(&thousand_side_by_side(), &dir);
    judge(&dir.logs());
}
