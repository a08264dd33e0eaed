//! Stopping: what runs, what waits, what sleeps; and going on afterwards.

use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo::{Cancel, Context, RunError, RunOptions, Summary, Task, step, task};
use apollo_tests::child::{output, pipelines, said, until};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::asynchronous::{endless, naps, too_long};
use apollo_tests::pipelines::control::{begun, options, ran, script};
use apollo_tests::pipelines::scripted::{patience, row};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

/// Runs a task, and asks it to stop when the last line of its log shows a word.
fn stopped_at(dir: &Dir, task: &Task, word: &str) -> (Result<Summary, RunError>, Duration) {
    let cancel = Cancel::new();
    let options: RunOptions = options(dir).cancel(cancel.clone());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| task.run(&options));
        until(&format!("the log says {word}"), || {
            let text = dir.logs().first().and_then(|log| std::fs::read_to_string(log).ok())?;
            text.lines().last()?.contains(word).then_some(())
        });
        let asked = Instant::now();
        cancel.cancel();
        let result = run.join().unwrap();
        (result, asked.elapsed())
    })
}

fn check(dir: &Dir, task: &Task, word: &str, step: &str) {
    let (result, took) = stopped_at(dir, task, word);
    assert!(matches!(result, Err(RunError::Stopped { .. })), "{result:?}");
    assert!(took < Duration::from_secs(5), "it took {took:?}");
    let log = Log::read(&dir.only_log());
    let last = log.of(step).last().unwrap();
    if last["status"] == "FAILED" {
        assert_eq!(last["detail"]["reason"], "stopped", "{last}");
    }
    assert_eq!(log.records.last().unwrap()["status"], "FAILED", "the summary is written");
    judge(&dir.logs());
}

#[test]
fn a_running_step_is_told_and_the_run_can_go_on() {
    let dir = Dir::new("running");
    script(&dir, "second", "hang");
    for _ in 0..7 {
        // More often than deaths would be borne: a stop is no death.
        check(&dir, &row(), "\"step_id\":\"second\",\"event_type\":\"STEP_START\"", "second");
    }
    script(&dir, "second", "");
    ran(&dir);
    row().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir), ["second 7", "third 0"]);
    judge(&dir.logs());
}

/// Waits until it is told to stop, and returns a value all the same.
#[step]
fn headstrong(ctx: &Context) -> u64 {
    until("somebody says stop", || ctx.is_cancelled().then_some(7))
}

task! { proud { steps: [headstrong] } }

#[test]
fn a_step_that_heard_of_it_and_returns_a_value_is_no_success() {
    let dir = Dir::new("heard");
    check(&dir, &proud(), "STEP_START", "headstrong");
    let story = ["TASK RUNNING", "headstrong START RUNNING 0", "headstrong END FAILED 0"];
    assert_eq!(Log::read(&dir.only_log()).story()[..3], story);
}

#[test]
fn who_is_stopped_before_it_begins_runs_nothing() {
    let dir = Dir::new("before");
    let cancel = Cancel::new();
    cancel.cancel();
    let result = row().run(&options(&dir).cancel(cancel));
    assert!(matches!(result, Err(RunError::Stopped { .. })), "{result:?}");
    assert_eq!(Log::read(&dir.only_log()).story(), ["TASK RUNNING", "TASK FAILED"]);
    judge(&dir.logs());
}

#[test]
fn a_wait_ends_at_once() {
    let dir = Dir::new("waiting");
    script(&dir, "patient", "fail");
    check(&dir, &patience(), "retry_at", "patient");
}

#[test]
fn an_asynchronous_step_is_dropped() {
    let dir = Dir::new("endless");
    check(&dir, &endless(), "STEP_START", "forever");
}

#[test]
fn asynchronous_steps_wait_at_the_same_time() {
    let dir = Dir::new("naps");
    naps().run(&options(&dir)).unwrap();
    let story = Log::read(&dir.only_log()).story();
    let ended = story.iter().position(|line| line.contains(" END ")).unwrap();
    let begun = story[..ended].iter().filter(|line| line.contains(" START ")).count();
    assert_eq!(begun, 4, "all sleep before the first awakes: {story:?}");
    judge(&dir.logs());
}

#[test]
fn an_asynchronous_step_ends_at_its_timeout() {
    let dir = Dir::new("timeout");
    assert!(too_long().run(&options(&dir)).is_err());
    let log = Log::read(&dir.only_log());
    assert_eq!(log.of("sleeper").last().unwrap()["error_message"], "timed out after 50 ms");
    judge(&dir.logs());
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

fn signalled(how: rustix::process::Signal, code: i32) {
    let dir = Dir::new("signal");
    script(&dir, "second", "hang");
    let child = pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "second");
    signal(&child, how);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(code), "{}", said(&ended));
    script(&dir, "second", "");
    let resumed = output(&mut pipelines(PROGRAM, dir.path(), &["run", "row"]));
    assert_eq!(resumed.status.code(), Some(0), "{}", said(&resumed));
    judge(&dir.logs());
}

#[test]
fn a_signal_stops_the_program_with_its_own_code_and_it_goes_on_later() {
    signalled(rustix::process::Signal::INT, 130);
    signalled(rustix::process::Signal::TERM, 143);
}

#[test]
fn a_second_signal_kills_a_step_that_hears_nothing() {
    let dir = Dir::new("deaf");
    script(&dir, "first", "deaf");
    let mut child = pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "first");
    signal(&child, rustix::process::Signal::INT);
    let ended = until("the second signal is heard", || {
        signal(&child, rustix::process::Signal::INT);
        child.try_wait().unwrap()
    });
    assert_ne!(ended.code(), Some(0));
    script(&dir, "first", "");
    row().run(&options(&dir)).unwrap();
    judge(&dir.logs());
}

#[test]
fn an_observer_that_panics_ends_the_run_and_hangs_nobody() {
    #[derive(Debug)]
    struct Nervous;
    impl apollo::Observer for Nervous {
        fn notice(&self, notice: apollo::Notice<'_>) {
            assert!(!matches!(notice, apollo::Notice::Record(_)), "too much");
        }
    }
    let dir = Dir::new("nervous");
    assert!(row().run(&options(&dir).observer(Arc::new(Nervous))).is_err());
    row().run(&options(&dir)).unwrap();
    judge(&dir.logs());
}
