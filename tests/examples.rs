//! The examples: run once, killed at forty moments, resumed with the plain command.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use apollo_tests::child::{example, kill, output, pipelines, said, until};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};

/// At how many moments the example is killed.
const MOMENTS: u64 = 40;

fn program(name: &str) -> String {
    example(name).into_os_string().into_string().unwrap()
}

fn run(program: &str, dir: &Dir, args: &[&str]) -> Output {
    output(&mut pipelines(program, dir.path(), args))
}

/// Artifacts and outputs, the run's own name left out of their names and their content.
fn result(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    [dir.content("artifacts"), dir.content("state")].concat()
}

fn undisturbed(program: &str) -> (Vec<(String, Vec<u8>)>, u64) {
    let dir = Dir::new("undisturbed");
    let count: PathBuf = dir.path().join("count");
    let mut command = pipelines(program, dir.path(), &[]);
    let ended = output(command.env("APOLLO_CRASH_AT", format!("count:{}", count.display())));
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let operations = fs::read_to_string(count).unwrap().trim().parse().unwrap();
    (result(&dir), operations)
}

#[test]
fn the_daily_pipeline_is_killed_at_forty_moments_and_ends_as_if_it_had_not_been() {
    let program = program("daily_pipeline");
    let (expected, operations) = undisturbed(&program);
    assert!(!expected.is_empty());
    let (mut dirs, mut logs, mut killed) = (Vec::new(), Vec::new(), 0);
    let moments = MOMENTS.min(operations - 1);
    for moment in 0..moments {
        let dir = Dir::new("moment");
        // Spread over all operations, every other one in the middle of a write.
        let at = 1 + moment * (operations - 1) / moments;
        let how = if moment % 2 == 0 { "" } else { ":torn" };
        let mut command = pipelines(&program, dir.path(), &[]);
        let ended = output(command.env("APOLLO_CRASH_AT", format!("{at}{how}")));
        killed += u64::from(ended.status.code().is_none());
        let resumed = run(&program, &dir, &[]);
        assert_eq!(resumed.status.code(), Some(0), "killed at {at}{how}: {}", said(&resumed));
        assert_eq!(result(&dir), expected, "killed at {at}{how}");
        let log = Log::read(&dir.only_log());
        for step in ["fetch_raw", "validate", "transform", "notify"] {
            assert_eq!(log.count(step, "STEP_END", "SUCCESS"), 1, "{at}{how}: {:?}", log.story());
        }
        logs.push(dir.only_log());
        dirs.push(dir);
    }
    let judged = judge(&logs);
    println!("killed {killed} times among {operations} operations; independent reader: {judged:?}");
    assert_eq!(killed, moments);
}

#[test]
fn the_daily_pipeline_is_done_once_and_new_runs_it_again() {
    let (program, dir) = (program("daily_pipeline"), Dir::new("daily"));
    assert_eq!(run(&program, &dir, &[]).status.code(), Some(0));
    let again = run(&program, &dir, &[]);
    assert_eq!(again.status.code(), Some(0));
    assert!(said(&again).contains("nothing was run"), "{}", said(&again));
    assert_eq!(run(&program, &dir, &["run", "--new"]).status.code(), Some(0));
    assert_eq!(dir.logs().len(), 2);
    // The hour that daylight saving takes, and a day that is not in the file.
    let degraded = run(&program, &dir, &["run", "--task-date", "2010-03-14"]);
    assert_eq!(degraded.status.code(), Some(0), "{}", said(&degraded));
    assert!(said(&degraded).contains("degraded"), "{}", said(&degraded));
    let missing = run(&program, &dir, &["run", "--task-date", "2011-01-01"]);
    assert_eq!(missing.status.code(), Some(1), "{}", said(&missing));
    judge(&dir.logs());
}

#[test]
fn every_other_example_runs_and_its_log_holds() {
    for name in ["retry_and_optional", "steps_from_another_crate", "async_parallel"] {
        let (program, dir) = (program(name), Dir::new(name));
        let ended = run(&program, &dir, &[]);
        assert_eq!(ended.status.code(), Some(0), "{name}: {}", said(&ended));
        let again = run(&program, &dir, &[]);
        assert!(said(&again).contains("nothing was run"), "{name}: {}", said(&again));
        judge(&dir.logs());
    }
}

#[test]
fn the_example_of_cleanup_is_killed_in_its_step_and_finishes() {
    let (program, dir) = (program("cleanup_after_kill"), Dir::new("cleanup"));
    let child = pipelines(&program, dir.path(), &[]).spawn().unwrap();
    until("half a ledger is written", || {
        let ledger = dir.content("artifacts").into_iter().find(|(name, _)| name == "ledger.txt")?;
        (ledger.1.iter().filter(|byte| **byte == b'\n').count() >= 3).then_some(())
    });
    kill(child);
    let resumed = run(&program, &dir, &[]);
    assert_eq!(resumed.status.code(), Some(0), "{}", said(&resumed));
    judge(&dir.logs());
}
