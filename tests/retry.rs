//! Retries, waits that survive a death, errors that no retry cures, panics, and deaths in a row.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use apollo::testing::{CrashDisk, Fault, SimClock};
use apollo::{Clock as _, RunError, Timestamp};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::disk::TestDisk;
use apollo_tests::log::{KEYS, Log, judge};
use apollo_tests::pipelines::control::{options, ran, script};
use apollo_tests::pipelines::scripted::{cleaning, diamond, patience, row};
use apollo_tests::pipelines::small::{chorus, long_message, nan};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

fn clock_at(seconds: i64) -> Arc<SimClock> {
    Arc::new(SimClock::new(Timestamp::from_unix_us(seconds * 1_000_000)))
}

fn delays(log: &Log, step: &str) -> Vec<u64> {
    log.of(step).filter_map(|one| one["detail"]["delay_ms"].as_u64()).collect()
}

#[test]
fn waits_grow_to_their_cap_and_pass_on_the_monotonic_clock() {
    let dir = Dir::new("waits");
    script(&dir, "patient", "fail");
    let clock = clock_at(1_700_000_000);
    assert!(patience().run(&options(&dir).clock(clock.clone())).is_err());
    let log = Log::read(&dir.only_log());
    assert_eq!(delays(&log, "patient"), [10_000, 20_000, 25_000, 25_000]);
    assert_eq!(log.count("patient", "STEP_START", "RUNNING"), 5);
    assert_eq!(clock.monotonic(), Duration::from_secs(80));
    assert_eq!(log.count("after", "STEP_START", "RUNNING"), 0);
    judge(&dir.logs());
}

/// How long the next run waits once its log is known: until then it may have waited for a lock, of
/// which a child that another test starts has a copy for a moment.
fn waited(dir: &Dir, wall_seconds: i64) -> Duration {
    #[derive(Debug)]
    struct Admitted(Arc<SimClock>, Mutex<Duration>);
    impl apollo::Observer for Admitted {
        fn notice(&self, notice: apollo::Notice<'_>) {
            if let apollo::Notice::Log(_) = notice {
                *self.1.lock().unwrap() = self.0.monotonic();
            }
        }
    }
    let clock = clock_at(wall_seconds);
    let admitted = Arc::new(Admitted(clock.clone(), Mutex::default()));
    patience().run(&options(dir).clock(clock.clone()).observer(admitted.clone())).unwrap();
    clock.monotonic() - *admitted.1.lock().unwrap()
}

/// Dies at an operation after the first retry was written down, then goes on at another moment.
fn waits_the_rest(later_seconds: i64, expected_seconds: u64) {
    let dir = Dir::new("rest");
    script(&dir, "patient", "fail 1");
    let clock = clock_at(1_700_000_000);
    let stop = apollo::Cancel::new();
    #[derive(Debug)]
    struct StopAtRetry(apollo::Cancel);
    impl apollo::Observer for StopAtRetry {
        fn notice(&self, notice: apollo::Notice<'_>) {
            if let apollo::Notice::Record(record) = notice
                && let apollo::Event::AttemptEnded { end: apollo::End::Retrying { .. }, .. } =
                    &record.event
            {
                self.0.cancel();
            }
        }
    }
    let first =
        options(&dir).clock(clock).cancel(stop.clone()).observer(Arc::new(StopAtRetry(stop)));
    let stopped = patience().run(&first);
    assert!(matches!(stopped, Err(RunError::Stopped { .. })), "{stopped:?}");
    let waited = waited(&dir, 1_700_000_000 + later_seconds);
    assert_eq!(waited, Duration::from_secs(expected_seconds), "{later_seconds} s later");
    assert_eq!(ran(&dir), ["before 0", "patient 0", "patient 1", "after 0"]);
    judge(&dir.logs());
}

#[test]
fn only_the_rest_of_a_wait_is_waited_whatever_the_wall_clock_says() {
    waits_the_rest(4, 6);
    waits_the_rest(100, 0);
    waits_the_rest(-3_600, 10);
    waits_the_rest(3_600 * 24 * 365, 0);
}

#[test]
fn a_process_that_dies_in_a_wait_leaves_only_the_rest_of_it() {
    let dir = Dir::new("died");
    script(&dir, "patient", "fail 1");
    let counter = Arc::new(CrashDisk::new(TestDisk::quick(), 0, Fault::Dead));
    let clock = clock_at(1_700_000_000);
    patience().run(&options(&dir).disk(counter.clone()).clock(clock)).unwrap();
    let operations = counter.operations();
    // At one of the operations the retry is on record and the next attempt is not begun.
    let mut seen = 0;
    for at in 1..=operations {
        let dir = Dir::new("died");
        script(&dir, "patient", "fail 1");
        let dead = CrashDisk::new(TestDisk::quick(), at, Fault::Dead);
        let clock = clock_at(1_700_000_000);
        assert!(
            patience().run(&options(&dir).disk(Arc::new(dead)).clock(clock)).is_err() || at > 20
        );
        let waits = dir.logs().iter().any(|log| {
            let text = std::fs::read_to_string(log).unwrap();
            text.lines().last().is_some_and(|line| line.contains("retry_at"))
        });
        let waited = waited(&dir, 1_700_000_004);
        if waits {
            seen += 1;
            assert_eq!(waited, Duration::from_secs(6), "died at {at}");
        }
    }
    assert!(seen > 0, "the retry was the last record at one of {operations} operations");
}

#[test]
fn a_wall_clock_that_goes_back_is_said_and_changes_no_order() {
    let dir = Dir::new("back");
    script(&dir, "third", "fail");
    assert!(row().run(&options(&dir).clock(clock_at(1_700_000_000))).is_err());
    script(&dir, "third", "");
    row().run(&options(&dir).clock(clock_at(1_600_000_000))).unwrap();
    let log = Log::read(&dir.only_log());
    assert!(log.warnings().contains("wall clock"), "{}", log.warnings());
    judge(&dir.logs());
}

#[test]
fn a_permanent_error_is_not_retried() {
    let dir = Dir::new("permanent");
    script(&dir, "b", "permanent");
    assert!(diamond().run(&options(&dir)).is_err());
    assert_eq!(ran(&dir).iter().filter(|line| line.starts_with("b ")).count(), 1);
    judge(&dir.logs());
}

#[test]
fn a_panic_is_a_failed_attempt_like_any_other() {
    let dir = Dir::new("panic");
    script(&dir, "b", "panic");
    assert!(diamond().run(&options(&dir)).is_err());
    let log = Log::read(&dir.only_log());
    assert_eq!(log.count("b", "STEP_START", "RUNNING"), 3);
    assert_eq!(log.of("b").last().unwrap()["error_message"], "panicked: as it was told");
    judge(&dir.logs());
}

#[test]
fn retries_are_counted_anew_in_each_epoch_and_attempts_are_not() {
    let dir = Dir::new("epochs");
    script(&dir, "b", "fail");
    for epoch in 1..=3 {
        assert!(diamond().run(&options(&dir)).is_err());
        assert_eq!(Log::read(&dir.only_log()).count("b", "STEP_START", "RUNNING"), 3 * epoch);
    }
    judge(&dir.logs());
}

#[test]
fn cleanup_runs_before_every_attempt_but_the_first_and_its_failure_is_the_attempts() {
    let dir = Dir::new("cleanup");
    script(&dir, "dirty", "fail 2");
    cleaning().run(&options(&dir)).unwrap();
    let swept = || std::fs::read_to_string(dir.path().join("swept")).unwrap();
    assert_eq!(swept(), "1\n2\n");
    assert_eq!(ran(&dir), ["dirty 0", "dirty 1", "dirty 2"]);
    script(&dir, "sweep.fail", "");
    let again = options(&dir).resume_from("dirty").unwrap();
    assert!(cleaning().run(&again).is_err());
    assert_eq!(ran(&dir), Vec::<String>::new(), "the body did not run");
    let log = Log::read(&dir.only_log());
    let said = log.of("dirty").last().unwrap()["error_message"].as_str().unwrap().to_owned();
    assert!(said.contains("cleanup failed: the broom is broken"), "{said}");
    judge(&dir.logs());
}

#[test]
fn a_step_that_kills_its_process_each_time_is_given_up() {
    let dir = Dir::new("die");
    script(&dir, "second", "die");
    let run = || output(&mut pipelines(PROGRAM, dir.path(), &["run", "row"]));
    for death in 1..=5 {
        assert_eq!(run().status.code(), None, "death {death}");
    }
    let sixth = run();
    assert_eq!(sixth.status.code(), Some(1), "{}", said(&sixth));
    assert!(said(&sixth).contains("given up"), "{}", said(&sixth));
    assert_eq!(ran(&dir).len(), 6, "one body of `first`, five of `second`");
    let log = Log::read(&dir.only_log());
    let last = log.of("second").last().unwrap();
    assert_eq!(last["detail"]["reason"], "interruptions");
    judge(&dir.logs());
    // That ends the row: the next one tries again.
    script(&dir, "second", "");
    assert_eq!(run().status.code(), Some(0));
    judge(&dir.logs());
}

#[test]
fn a_message_of_a_megabyte_is_one_line_that_says_it_was_cut() {
    let dir = Dir::new("long");
    assert!(long_message().run(&options(&dir)).is_err());
    let log = Log::read(&dir.only_log());
    let said = log.of("talkative").last().unwrap()["error_message"].as_str().unwrap().to_owned();
    assert!(said.len() <= 8 * 1024 && said.ends_with("[cut]"), "{} bytes", said.len());
    judge(&dir.logs());
}

#[test]
fn sixteen_long_messages_at_once_are_whole_lines() {
    let dir = Dir::new("chorus");
    assert!(chorus().run(&options(&dir)).is_err());
    let log = Log::read(&dir.only_log());
    assert_eq!(log.records.len(), 1 + 16 * 2 + 1);
    for record in &log.records {
        let keys: Vec<_> = record.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.len(), KEYS.len());
    }
    judge(&dir.logs());
}

#[test]
fn a_value_that_does_not_survive_fails_at_once_and_for_good() {
    let dir = Dir::new("nan");
    assert!(nan().run(&options(&dir)).is_err());
    let log = Log::read(&dir.only_log());
    let said = log.of("not_a_number").last().unwrap()["error_message"].to_string();
    assert!(said.contains("NaN"), "{said}");
    judge(&dir.logs());
}

#[test]
fn a_real_wait_is_a_real_wait() {
    let dir = Dir::new("real");
    script(&dir, "b", "fail 2");
    let began = Instant::now();
    diamond().run(&options(&dir)).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(2));
}
