//! The truth table of the contract: a diamond of eight steps, every order of finishing.
//!
//! The engine's loop is played without a clock, a log or a thread; what must come out is said by
//! an oracle that knows nothing of the scheduler and nothing of the fold.

use serde_json::json;

use super::*;
use crate::digest::Digest;
use crate::graph::GraphStep;
use crate::id::{StepId, TaskId, TaskName};
use crate::policy::{Backoff, Durability, Need, OnUnknown, Retry};
use crate::record::{
    Attempt, Closing, Crc, End, Event, FailReason, Header, HeaderStep, OpenReason, Record, SCHEMA,
};

/// How the attempts of a step end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Succeeds,
    /// Its first attempt fails, the others succeed.
    FailsOnce,
    Fails,
    /// Fails with an error that no retry cures.
    Permanent,
}

use Script::{Fails, FailsOnce, Permanent, Succeeds};

/// A step: its dependencies, whether it is optional, how often it may be retried, what it does.
type Row = (&'static [u32], bool, u32, Script);

const ALL: [Script; 4] = [Succeeds, FailsOnce, Fails, Permanent];

fn id(index: usize) -> StepId {
    StepId::parse(&format!("s{index}")).unwrap()
}

fn graph(rows: &[Row]) -> Graph {
    let retry = |max: u32| Retry {
        backoff: if max == 0 { Backoff::None } else { Backoff::Fixed },
        max_retries: Some(max),
        delay: Some(Duration::from_millis(7)),
        ..Retry::NONE
    };
    let step = |(index, row): (usize, &Row)| GraphStep {
        id: id(index),
        depends_on: row.0.iter().copied().map(StepIndex).collect(),
        needs_value: vec![false; row.0.len()],
        need: if row.1 { Need::Optional } else { Need::Required },
        retry: retry(row.2).resolve(0, Duration::ZERO),
        timeout: None,
        durability: Durability::Always,
        start_is_synced: false,
        version: 1,
        renamed_from: None,
        params: Vec::new(),
        definition: json!(index),
        digest: Digest::of(&[u8::try_from(index).unwrap()]),
        on_unknown: OnUnknown::Rerun,
    };
    Graph::new(rows.iter().enumerate().map(step).collect()).unwrap()
}

fn header(graph: &Graph, max_parallel: u32) -> Header {
    let name = |index: &StepIndex| graph.step(*index).id.clone();
    let described = graph.steps().iter().map(|step| HeaderStep {
        id: step.id.clone(),
        depends_on: step.depends_on.iter().map(name).collect(),
        optional: step.need == Need::Optional,
        retry: step.retry,
        timeout_ms: None,
        digest: step.digest,
        version: 1,
    });
    Header {
        schema: SCHEMA,
        apollo: "test".to_owned(),
        task: TaskName::parse("table").unwrap(),
        task_id: TaskId::parse("table").unwrap(),
        params: BTreeMap::new(),
        graph_digest: graph.digest(),
        max_parallel,
        reason: OpenReason::Start,
        steps: described.collect(),
        rerun: Vec::new(),
        resume_from: None,
        renamed: BTreeMap::new(),
        warnings: Vec::new(),
        host: "test".to_owned(),
        pid: 1,
        program: None,
    }
}

/// The engine's loop without its doors.
struct Play<'a> {
    rows: &'a [Row],
    graph: Graph,
    state: RunState,
    seq: u64,
    /// Records in their order, as words.
    story: Vec<String>,
    most_running: u32,
}

impl<'a> Play<'a> {
    fn new(rows: &'a [Row], max_parallel: u32) -> Self {
        let graph = graph(rows);
        let header = header(&graph, max_parallel);
        let (state, story) = (RunState::default(), Vec::new());
        let mut this = Self { rows, graph, state, seq: 0, story, most_running: 0 };
        this.apply(Event::EpochOpened(Box::new(header)));
        this
    }

    fn apply(&mut self, event: Event) {
        self.apply_in(self.state.epoch(), event);
    }

    fn apply_in(&mut self, epoch: u32, event: Event) {
        let step = event.step().map(ToString::to_string).unwrap_or_default();
        self.story.push(format!("{step} {}", event.status()));
        let record = Record {
            timestamp: Timestamp::from_unix_us(0),
            seq: self.seq,
            epoch,
            durable: 0,
            prev: Crc::default(),
            event,
        };
        self.state.apply(&record).unwrap();
        self.seq += 1;
    }

    fn attempt(&self, step: StepIndex, retry_count: u32) -> Attempt {
        let id = self.graph.step(step).id.clone();
        Attempt { step: id, retry_count, input_digest: Digest::of(b"input") }
    }

    /// Works the epoch off; `pick` chooses which of the running attempts ends next.
    fn work(&mut self, max_parallel: u32, mut pick: impl FnMut(usize) -> usize) -> Closing {
        let zero = Timestamp::from_unix_us(0);
        let mut now = Duration::ZERO;
        let mut scheduler = Scheduler::new(&self.graph, &self.state, max_parallel, zero, now);
        let mut running = Vec::new();
        loop {
            match scheduler.next(now) {
                Decision::Start(step) => {
                    let attempt = self.attempt(step, self.state.step(step).attempts);
                    self.apply(Event::AttemptStarted(attempt));
                    scheduler.started(step);
                    running.push(step);
                    self.most_running = self.most_running.max(scheduler.running());
                    assert!(scheduler.running() <= max_parallel, "{:?}", self.story);
                }
                // Either an attempt ends first or the wait does.
                Decision::WaitUntil(due) if running.is_empty() || pick(2) == 0 => now = due,
                Decision::Wait | Decision::WaitUntil(_) => {
                    let step = running.swap_remove(pick(running.len()));
                    let due = self.end(step, now);
                    scheduler.ended(&self.graph, &self.state, step, due);
                }
                Decision::Finished => break,
            }
        }
        assert!(running.is_empty(), "the epoch ended while {running:?} ran");
        let closing = self.state.closing(1);
        self.apply(Event::EpochClosed(Box::new(closing.clone())));
        closing
    }

    fn end(&mut self, step: StepIndex, now: Duration) -> Option<Duration> {
        let (script, state) = (self.rows[step.get()].3, self.state.step(step));
        let number = state.attempts - 1;
        let error = "as the script says".to_owned();
        let wait = self.graph.step(step).retry.wait(state.retries + 1, 0);
        let succeeds = script == Succeeds || (script == FailsOnce && number > 0);
        let (end, due) = match wait.filter(|_| script != Permanent) {
            _ if succeeds => {
                let output_digest = Digest::of(step.0.to_string().as_bytes());
                (End::Success { output_digest, artifacts: BTreeMap::new() }, None)
            }
            Some(wait) => {
                let retry_at = Timestamp::from_unix_us(0).after(now + wait);
                (End::Retrying { error, retry_at, delay_ms: 7 }, Some(now + wait))
            }
            None => (End::Failed { error, reason: None }, None),
        };
        let attempt = self.attempt(step, number);
        self.apply(Event::AttemptEnded { attempt, duration_ms: Some(0), end });
        due
    }

    /// What is compared between orders: of every step its state, its attempts and its output.
    fn fold(&self) -> Vec<(Status, u32, Option<Digest>)> {
        let tell = |step: &crate::replay::StepState| (step.status, step.attempts, step.output);
        self.state.steps().iter().map(tell).collect()
    }
}

/// What DESIGN says of a task, without a scheduler: states, attempts, degraded, success.
fn oracle(rows: &[Row]) -> (Vec<(Status, u32)>, Vec<usize>, bool) {
    let mut states: Vec<(Status, u32)> = Vec::new();
    for (depends_on, _optional, retries, script) in rows {
        // Rows stand behind what they depend on.
        let ready = depends_on.iter().all(|on| {
            let (dependency, optional) = (states[*on as usize].0, rows[*on as usize].1);
            dependency == Status::Success || (dependency == Status::Failed && optional)
        });
        states.push(match (ready, script) {
            (false, _) => (Status::Pending, 0),
            (true, Succeeds) => (Status::Success, 1),
            (true, FailsOnce) if *retries > 0 => (Status::Success, 2),
            (true, FailsOnce | Permanent) => (Status::Failed, 1),
            (true, Fails) => (Status::Failed, 1 + retries),
        });
    }
    let degraded: Vec<_> =
        (0..rows.len()).filter(|at| rows[*at].1 && states[*at].0 == Status::Failed).collect();
    let success = (0..rows.len()).all(|at| {
        states[at].0 == Status::Success || (rows[at].1 && states[at].0 == Status::Failed)
    });
    (states, degraded, success)
}

/// Numbers that look random and are the same every time.
fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |sides| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % sides as u64).unwrap()
    }
}

fn check(rows: &[Row], max_parallel: u32, seed: u64) -> u32 {
    let mut play = Play::new(rows, max_parallel);
    let closing = play.work(max_parallel, dice(seed));
    let (states, degraded, success) = oracle(rows);
    let context = || format!("{rows:?}, {max_parallel} at once, seed {seed}: {:#?}", play.story);
    let seen: Vec<_> =
        play.fold().iter().map(|(status, attempts, _)| (*status, *attempts)).collect();
    assert_eq!(seen, states, "{}", context());
    assert_eq!(closing.success, success, "{}", context());
    let degraded: Vec<_> = degraded.into_iter().map(id).collect();
    assert_eq!(closing.degraded, degraded, "{}", context());
    play.most_running
}

/// Two diamonds in a row, with optional steps in their arms.
const DIAMOND: [Row; 8] = [
    (&[], false, 0, Succeeds),
    (&[0], false, 2, FailsOnce),
    (&[0], false, 0, Succeeds),
    (&[0], true, 1, Fails),
    (&[1, 2], true, 0, Permanent),
    (&[2, 3], false, 3, FailsOnce),
    (&[4, 5], false, 1, Fails),
    (&[6, 3], false, 0, Succeeds),
];

#[test]
fn the_diamond_ends_the_same_in_every_order_of_finishing() {
    for max_parallel in [1, 2, 8] {
        let mut folds = BTreeSet::new();
        let mut most = 0;
        for seed in 0..1_000 {
            most = most.max(check(&DIAMOND, max_parallel, seed));
            let mut play = Play::new(&DIAMOND, max_parallel);
            play.work(max_parallel, dice(seed));
            folds.insert(format!("{:?}", play.fold()));
        }
        assert_eq!(folds.len(), 1, "{max_parallel} at once");
        assert_eq!(most, max_parallel.min(3), "as many run at once as may and can");
    }
}

#[test]
fn the_diamond_follows_the_table_whatever_its_steps_do() {
    // Two of the eight vary through all scripts, in all places; the others keep theirs.
    for one in 0..DIAMOND.len() {
        for other in 0..one {
            for scripts in ALL.iter().flat_map(|a| ALL.iter().map(move |b| (*a, *b))) {
                let mut rows = DIAMOND;
                (rows[one].3, rows[other].3) = scripts;
                for max_parallel in [1, 2, 8] {
                    check(&rows, max_parallel, (one * 8 + other) as u64 + 1);
                }
            }
        }
    }
}

#[test]
fn a_small_diamond_follows_the_table_in_every_case() {
    let edges: [&'static [u32]; 5] = [&[], &[0], &[0], &[1, 2], &[3]];
    // Each of five steps: four scripts, optional or not.
    for case in 0_u32..8_u32.pow(5) {
        let row = |(at, on): (usize, &&'static [u32])| {
            let digit = case / 8_u32.pow(u32::try_from(at).unwrap()) % 8;
            (*on, digit >= 4, u32::from(at % 2 == 1), ALL[digit as usize % 4])
        };
        let rows: Vec<Row> = edges.iter().enumerate().map(row).collect();
        check(&rows, 2, u64::from(case) + 1);
    }
}

#[test]
fn ready_steps_start_in_the_order_of_declaration() {
    let rows: Vec<Row> = vec![(&[], false, 0, Succeeds); 6];
    let mut play = Play::new(&rows, 1);
    play.work(1, |_| 0);
    let started: Vec<_> = play.story.iter().filter(|word| word.ends_with(" RUNNING")).collect();
    assert_eq!(
        started[1..].iter().map(|word| word.as_str()).collect::<Vec<_>>(),
        ["s0 RUNNING", "s1 RUNNING", "s2 RUNNING", "s3 RUNNING", "s4 RUNNING", "s5 RUNNING"]
    );
}

#[test]
fn only_the_rest_of_a_wait_is_waited_and_never_more_than_the_whole() {
    let check = |wall_us: i64, expected_ms: u64| {
        let rows: [Row; 1] = [(&[], false, 5, Fails)];
        let mut play = Play::new(&rows, 1);
        let attempt = play.attempt(StepIndex(0), 0);
        play.apply(Event::AttemptStarted(attempt.clone()));
        let retry_at = Timestamp::from_unix_us(1_000_000);
        let end = End::Retrying { error: "no".to_owned(), retry_at, delay_ms: 600 };
        play.apply(Event::AttemptEnded { attempt, duration_ms: Some(1), end });
        let header = Header { reason: OpenReason::Resume, ..header(&play.graph, 1) };
        let event = Event::EpochOpened(Box::new(header));
        let (timestamp, prev) = (Timestamp::from_unix_us(0), Crc::default());
        let record = Record { timestamp, seq: play.seq, epoch: 1, durable: 0, prev, event };
        play.state.apply(&record).unwrap();
        let now = Timestamp::from_unix_us(wall_us);
        let origin = Duration::from_secs(5);
        let mut scheduler = Scheduler::new(&play.graph, &play.state, 1, now, origin);
        let due = origin + Duration::from_millis(expected_ms);
        let expected = match expected_ms {
            0 => Decision::Start(StepIndex(0)),
            _ => Decision::WaitUntil(due),
        };
        assert_eq!(scheduler.next(origin), expected, "wall clock at {wall_us} us");
        assert_eq!(scheduler.next(due), Decision::Start(StepIndex(0)));
    };
    check(700_000, 300);
    check(1_000_000, 0);
    // The wall clock went far ahead; far back.
    check(9_000_000_000, 0);
    check(-9_000_000_000, 600);
}

#[test]
fn the_rest_of_a_wait_is_waited_although_a_dependency_runs_again() {
    let rows: [Row; 2] = [(&[], false, 0, Succeeds), (&[0], false, 5, Fails)];
    let mut play = Play::new(&rows, 1);
    let made = play.attempt(StepIndex(0), 0);
    play.apply(Event::AttemptStarted(made.clone()));
    let end = End::Success { output_digest: Digest::of(b"null"), artifacts: BTreeMap::new() };
    play.apply(Event::AttemptEnded { attempt: made, duration_ms: Some(1), end: end.clone() });
    let waits = play.attempt(StepIndex(1), 0);
    play.apply(Event::AttemptStarted(waits.clone()));
    let retry_at = Timestamp::from_unix_us(1_000_000);
    let retry = End::Retrying { error: "no".to_owned(), retry_at, delay_ms: 600 };
    play.apply(Event::AttemptEnded { attempt: waits, duration_ms: Some(1), end: retry });
    let rerun = vec![play.graph.step(StepIndex(0)).id.clone()];
    let header = Header { reason: OpenReason::Rerun, rerun, ..header(&play.graph, 1) };
    play.apply_in(1, Event::EpochOpened(Box::new(header)));
    let (now, origin) = (Timestamp::from_unix_us(700_000), Duration::from_secs(5));
    let mut scheduler = Scheduler::new(&play.graph, &play.state, 1, now, origin);
    assert_eq!(scheduler.next(origin), Decision::Start(StepIndex(0)));
    scheduler.started(StepIndex(0));
    let again = play.attempt(StepIndex(0), 1);
    play.apply_in(1, Event::AttemptStarted(again.clone()));
    play.apply_in(1, Event::AttemptEnded { attempt: again, duration_ms: Some(1), end });
    scheduler.ended(&play.graph, &play.state, StepIndex(0), None);
    let due = origin + Duration::from_millis(300);
    assert_eq!(scheduler.next(origin), Decision::WaitUntil(due));
    assert_eq!(scheduler.next(due), Decision::Start(StepIndex(1)));
}

#[test]
fn a_stop_starts_nothing_more_and_waits_for_what_runs() {
    let rows: [Row; 3] =
        [(&[], false, 0, Succeeds), (&[], false, 0, Succeeds), (&[0], false, 0, Succeeds)];
    let mut play = Play::new(&rows, 1);
    let zero = Timestamp::from_unix_us(0);
    let mut scheduler = Scheduler::new(&play.graph, &play.state, 1, zero, Duration::ZERO);
    assert_eq!(scheduler.next(Duration::ZERO), Decision::Start(StepIndex(0)));
    let attempt = play.attempt(StepIndex(0), 0);
    play.apply(Event::AttemptStarted(attempt.clone()));
    scheduler.started(StepIndex(0));
    scheduler.stop();
    assert_eq!(scheduler.next(Duration::ZERO), Decision::Wait);
    let end = End::Failed { error: "stopped".to_owned(), reason: Some(FailReason::Stopped) };
    play.apply(Event::AttemptEnded { attempt, duration_ms: Some(0), end });
    scheduler.ended(&play.graph, &play.state, StepIndex(0), None);
    assert_eq!(scheduler.next(Duration::ZERO), Decision::Finished);
    assert!(!play.state.closing(0).success);
}
