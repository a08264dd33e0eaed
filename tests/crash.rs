//! Killed at every operation that changes the disk, and resumed with the plain command.
//!
//! The story of the bug: a system of this kind works until a process dies between two writes that
//! belong together. So the operations are counted first; then the process dies at each of them, or
//! in the middle of it, and the same command must end with the same files as an undisturbed run.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use apollo::testing::{CrashDisk, Fault, SimClock};
use apollo::{
    Clock as _, EngineError, Notice, Observer, RunError, RunOptions, Status, Summary, Timestamp,
};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::disk::TestDisk;
use apollo_tests::folded::folded;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::script;
use apollo_tests::pipelines::crashing::crashing;
use apollo_tests::pipelines::scripted::diamond;
use apollo_tests::pipelines::thousand::thousand_in_a_row;
use rustix::io::Errno;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

/// What must be the same after every crash: artifacts, outputs, and what the steps did outside.
fn result(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    let mut all = dir.content("artifacts");
    all.extend(dir.content("state"));
    for name in ["ledger", "told-all"] {
        let content = fs::read(dir.path().join(name)).unwrap_or_default();
        all.push((name.to_owned(), content));
    }
    all
}

fn options(dir: &Dir) -> RunOptions {
    // Nothing here cuts the power, so nothing has to be synced for real.
    RunOptions::new().dir(dir.apollo()).disk(TestDisk::quick())
}

/// A run that nothing disturbs, and how many operations it needs.
fn undisturbed() -> (Vec<(String, Vec<u8>)>, u64) {
    let dir = Dir::new("undisturbed");
    let disk = Arc::new(CrashDisk::new(TestDisk::quick(), 0, Fault::Kill));
    let summary = crashing().run(&options(&dir).disk(disk.clone())).unwrap();
    assert_eq!(summary.degraded.len(), 1);
    judge(&dir.logs());
    (result(&dir), disk.operations())
}

/// The state in which everything that is promised holds.
fn check(dir: &Dir, expected: &[(String, Vec<u8>)], what: &str) {
    let log = Log::read(&dir.only_log());
    for step in ["fetch", "parse", "load", "tell"] {
        assert_eq!(log.count(step, "STEP_END", "SUCCESS"), 1, "{what}: {step}: {:?}", log.story());
    }
    assert_eq!(folded(&log)["enrich"].0, "FAILED", "{what}");
    assert_eq!(result(dir), expected, "{what}: {:?}", log.story());
}

fn killed_everywhere(how: &str) {
    let (expected, operations) = undisturbed();
    let mut logs = Vec::new();
    let mut dirs = Vec::new();
    for at in 1..=operations {
        let dir = Dir::new("killed");
        let what = format!("{at}{how} of {operations}");
        let mut first = pipelines(PROGRAM, dir.path(), &["run", "crashing"]);
        let killed = output(first.env("APOLLO_CRASH_AT", format!("{at}{how}")));
        // Whether a retry shares a commit depends on the moment: the last numbers may not exist.
        let beyond = killed.status.code() == Some(0) && at + 4 > operations;
        assert!(beyond || killed.status.code().is_none(), "{what} kills: {}", said(&killed));
        let resumed = crashing().run(&options(&dir));
        resumed.unwrap_or_else(|error| panic!("{what}: the plain run goes on: {error:?}"));
        check(&dir, &expected, &what);
        logs.push(dir.only_log());
        dirs.push(dir);
    }
    let judged = judge(&logs);
    println!("killed{how} at {operations} operations; the independent reader: {judged:?}");
}

#[test]
fn killed_before_every_operation_the_plain_command_finishes_the_work() {
    killed_everywhere("");
}

#[test]
fn killed_in_the_middle_of_every_write_the_plain_command_finishes_the_work() {
    killed_everywhere(":torn");
}

#[test]
fn killed_again_and_again_in_the_recovery_it_comes_to_the_same_end() {
    let (expected, operations) = undisturbed();
    let dir = Dir::new("again");
    let begun = operations * 2 / 3;
    let mut deaths = 0;
    for at in std::iter::once(begun).chain(1..) {
        let mut command = pipelines(PROGRAM, dir.path(), &["run", "crashing"]);
        let how = if at % 2 == 0 { ":torn" } else { "" };
        let ended = output(command.env("APOLLO_CRASH_AT", format!("{at}{how}")));
        if ended.status.code() == Some(0) {
            break;
        }
        // A step that was open in five deaths in a row is given up once, and then tried again.
        let given_up = ended.status.code() == Some(1) && said(&ended).contains("given up");
        assert!(given_up || ended.status.code().is_none(), "killed at {at}: {}", said(&ended));
        deaths += u32::from(!given_up);
    }
    check(&dir, &expected, "after many deaths");
    judge(&dir.logs());
    println!("the recovery died {deaths} times before it came through");
}

/// Whether an error says that storage failed, which is exit code 5.
fn is_storage(result: &Result<Summary, RunError>) -> bool {
    use apollo::AdmissionError as Admission;
    matches!(
        result,
        Err(RunError::Engine(EngineError::Log { .. } | EngineError::Store { .. })
            | RunError::Admission(
                Admission::Store { .. } | Admission::Lock { .. } | Admission::Log { .. },
            ))
    )
}

/// What may fail without ending the epoch: it only tidies up, names the holder of a lock, captures a
/// line, or reserves room.
fn may_fail(operation: &str, path: &Path) -> bool {
    let inside = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    let names_holder = path.extension().is_some_and(|extension| extension == "lock");
    operation == "reserve"
        || (operation == "remove_dir_all" && inside(".staging"))
        || inside("output")
        || (names_holder && ["set_len", "append"].contains(&operation))
}

fn failing_everywhere(fault: Fault, word: &str) {
    let (expected, operations) = undisturbed();
    let (mut logs, mut dirs, mut tolerated) = (Vec::new(), Vec::new(), Vec::new());
    for at in 1..=operations {
        let dir = Dir::new("failing");
        let what = format!("{word} at {at} of {operations}");
        let disk = Arc::new(CrashDisk::new(TestDisk::quick(), at, fault));
        let result = crashing().run(&options(&dir).disk(disk.clone()));
        match &result {
            Ok(_) => tolerated.extend(disk.met()),
            Err(error) => assert!(is_storage(&result), "{what}: {error:?}"),
        }
        let again = crashing().run(&options(&dir));
        let again = again.unwrap_or_else(|error| panic!("{what}: the next run: {error:?}"));
        assert_eq!(again.status, Status::Success);
        check(&dir, &expected, &what);
        logs.push(dir.only_log());
        dirs.push(dir);
    }
    judge(&logs);
    for (operation, path) in &tolerated {
        assert!(may_fail(operation, path), "{word}: {operation} of {} fails", path.display());
    }
    println!("{word} at {operations} operations; {} of them only tidy up", tolerated.len());
}

#[test]
fn an_io_error_at_every_operation_ends_the_epoch_and_the_next_run_finishes() {
    failing_everywhere(Fault::Fail(Errno::IO), "EIO");
}

#[test]
fn a_full_disk_at_every_operation_ends_the_epoch_and_the_next_run_finishes() {
    failing_everywhere(Fault::Fail(Errno::NOSPC), "ENOSPC");
}

#[test]
fn a_quota_that_is_used_up_at_every_operation_ends_the_epoch_and_the_next_run_finishes() {
    failing_everywhere(Fault::Fail(Errno::DQUOT), "EDQUOT");
}

#[test]
fn a_disk_that_can_only_be_read_from_any_operation_on_ends_the_epoch_and_the_next_run_finishes() {
    failing_everywhere(Fault::FailFrom(Errno::ROFS), "EROFS");
}

#[test]
fn a_short_write_at_every_operation_ends_the_epoch_and_the_next_run_finishes() {
    failing_everywhere(Fault::Short, "a short write");
}

/// Keeps what a person is warned of.
#[derive(Debug, Default)]
struct Warned(Mutex<Vec<String>>);

impl Observer for Warned {
    fn notice(&self, notice: Notice<'_>) {
        if let Notice::Warning(text) = notice {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }
}

#[test]
fn a_file_system_that_cannot_reserve_room_is_told_of_once_and_the_run_goes_on() {
    let mut told = 0;
    let (_expected, operations) = undisturbed();
    for at in 1..=operations {
        let dir = Dir::new("reserve");
        let fault = Fault::Fail(Errno::OPNOTSUPP);
        let disk = Arc::new(CrashDisk::new(TestDisk::quick(), at, fault));
        let warned = Arc::new(Warned::default());
        let watched = options(&dir).disk(disk.clone()).observer(warned.clone());
        let result = crashing().run(&watched);
        if disk.met().is_some_and(|(operation, _path)| operation == "reserve") {
            assert_eq!(result.unwrap().status, Status::Success);
            let warnings = warned.0.lock().unwrap();
            assert!(warnings.len() == 1 && warnings[0].contains("no room can be reserved"));
            told += 1;
        }
    }
    assert!(told > 0, "a run reserves room");
}

#[test]
fn the_command_line_says_five_when_storage_fails() {
    let dir = Dir::new("exit5");
    let (_expected, operations) = undisturbed();
    let mut command = pipelines(PROGRAM, dir.path(), &["run", "crashing"]);
    let failed = output(command.env("APOLLO_CRASH_AT", format!("{}:eio", operations / 2)));
    assert_eq!(failed.status.code(), Some(5), "{}", said(&failed));
    let resumed = output(&mut pipelines(PROGRAM, dir.path(), &["run", "crashing"]));
    assert_eq!(resumed.status.code(), Some(0), "{}", said(&resumed));
}

#[test]
fn a_program_that_dies_leaves_nothing_that_a_second_one_waits_for() {
    let dir = Dir::new("lockfree");
    let mut command = pipelines(PROGRAM, dir.path(), &["run", "crashing"]);
    output(command.env("APOLLO_CRASH_AT", "30"));
    assert!(Path::new(&dir.apollo().join("logs/task_crashing.lock")).exists());
    let clock = Arc::new(SimClock::new(Timestamp::from_unix_us(1_700_000_000_000_000)));
    crashing().run(&options(&dir).clock(clock.clone())).unwrap();
    assert!(clock.monotonic().as_millis() < 900, "a dead holder's lock is free at once");
}

#[test]
fn a_disk_that_fills_up_loses_no_end_and_starts_nothing_more() {
    let dir = Dir::new("full");
    // The log of a thousand steps has 800 KiB.
    let full = options(&dir).disk(TestDisk::full_after(500 * 1024)).max_parallel(1);
    let result = thousand_in_a_row().run(&full);
    assert!(is_storage(&result), "{:?}", result.map(|summary| summary.status));
    let log = Log::read(&dir.only_log());
    let ended = log.records.iter().filter(|one| one["status"] == "SUCCESS").count();
    assert!((1..1_000).contains(&ended), "{ended} steps had ended");
    let last = log.records.iter().rev().find(|one| one["event_type"] == "STEP_END").unwrap();
    assert_eq!(last["detail"]["reason"], "stopped", "the step that found no room did not begin");
    assert_eq!(log.records.last().unwrap()["status"], "FAILED", "the summary is written");
    let again = thousand_in_a_row().run(&options(&dir)).unwrap();
    assert_eq!(again.attempts as usize, 1_000 - ended, "nothing that ended runs again");
    judge(&dir.logs());
}

#[test]
fn killed_while_steps_run_side_by_side_every_step_succeeds_once() {
    let (mut dirs, mut killed) = (Vec::new(), 0);
    for at in (3..90).step_by(4) {
        let dir = Dir::new("parallel");
        // Two that fail first, so that waits are among what is killed.
        for step in ["b", "g"] {
            script(&dir, step, "fail 1");
        }
        let how = if at % 8 == 3 { "" } else { ":torn" };
        let mut command =
            pipelines(PROGRAM, dir.path(), &["run", "diamond", "--max-parallel", "8"]);
        let ended = output(command.env("APOLLO_CRASH_AT", format!("{at}{how}")));
        killed += u32::from(ended.status.code().is_none());
        let summary = diamond().run(&options(&dir)).unwrap();
        assert!(summary.degraded.is_empty(), "killed at {at}{how}");
        let log = Log::read(&dir.only_log());
        for step in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            assert_eq!(log.count(step, "STEP_END", "SUCCESS"), 1, "{at}{how}: {:?}", log.story());
        }
        dirs.push(dir);
    }
    let logs: Vec<_> = dirs.iter().map(Dir::only_log).collect();
    judge(&logs);
    println!("killed {killed} times of {} while steps ran side by side", dirs.len());
    assert!(killed > 10);
}
