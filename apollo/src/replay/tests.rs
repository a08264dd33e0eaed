//! The fold, told in words: `open a b<a c?<a,b`, `a start`, `a ok`, `close ok`.

use serde_json::json;

use super::*;
use crate::graph::{Graph, GraphStep};
use crate::id::{TaskId, TaskName};
use crate::policy::{Durability, Need, OnUnknown, Retry};
use crate::record::{Crc, OpenReason, SCHEMA};

fn id(text: &str) -> StepId {
    StepId::parse(text).unwrap()
}

/// A graph of words: `b?<a,c` is optional and depends on two; `b!2` has version 2, and
/// `b=old` was called so before; `b*` needs the values of its dependencies.
pub(crate) fn graph(words: &str) -> Graph {
    let parse = |word: &str| {
        let (head, on) = word.split_once('<').unwrap_or((word, ""));
        let (head, renamed_from) =
            head.split_once('=').map_or((head, None), |(h, o)| (h, Some(id(o))));
        let (head, version) =
            head.split_once('!').map_or((head, 1), |(h, v)| (h, v.parse().unwrap()));
        let (head, needs) = head.strip_suffix('*').map_or((head, false), |head| (head, true));
        let (head, need) =
            head.strip_suffix('?').map_or((head, Need::Required), |head| (head, Need::Optional));
        let on: Vec<String> =
            on.split(',').filter(|on| !on.is_empty()).map(str::to_owned).collect();
        (head.to_owned(), on, need, needs, version, renamed_from)
    };
    let rows: Vec<_> = words.split_whitespace().map(parse).collect();
    let index = |name: &String| {
        let found = rows.iter().position(|row| row.0 == *name).unwrap();
        StepIndex(u32::try_from(found).unwrap())
    };
    type Row = (String, Vec<String>, Need, bool, u32, Option<StepId>);
    let step = |(name, on, need, needs, version, renamed_from): &Row| {
        let definition = json!({"id": name, "depends_on": on, "version": version});
        GraphStep {
            id: id(name),
            depends_on: on.iter().map(index).collect(),
            needs_value: vec![*needs; on.len()],
            need: *need,
            retry: Retry::NONE.resolve(0, Duration::ZERO),
            timeout: None,
            durability: Durability::Always,
            start_is_synced: false,
            version: *version,
            renamed_from: renamed_from.clone(),
            params: Vec::new(),
            digest: Digest::of_json(&definition),
            definition,
            on_unknown: OnUnknown::Rerun,
        }
    };
    Graph::new(rows.iter().map(step).collect()).unwrap()
}

fn header(words: &str) -> Header {
    let (steps, options): (Vec<&str>, Vec<&str>) =
        words.split_whitespace().partition(|word| !word.starts_with('+'));
    let graph = graph(&steps.join(" "));
    let described = graph.steps().iter().map(|step| HeaderStep {
        id: step.id.clone(),
        depends_on: step.depends_on.iter().map(|on| graph.step(*on).id.clone()).collect(),
        optional: step.need == Need::Optional,
        retry: step.retry,
        timeout_ms: None,
        digest: step.digest,
        version: step.version,
    });
    let option =
        |name: &'static str| options.iter().filter_map(move |word| word.strip_prefix(name));
    Header {
        schema: SCHEMA,
        apollo: "test".to_owned(),
        task: TaskName::parse("t").unwrap(),
        task_id: TaskId::parse("t").unwrap(),
        params: BTreeMap::new(),
        graph_digest: graph.digest(),
        max_parallel: 2,
        reason: OpenReason::Start,
        steps: described.collect(),
        rerun: option("+rerun:").map(id).collect(),
        resume_from: None,
        renamed: option("+renamed:")
            .map(|word| word.split_once(':').unwrap())
            .map(|(new, old)| (id(new), id(old)))
            .collect(),
        warnings: Vec::new(),
        host: "test".to_owned(),
        pid: 1,
        program: None,
    }
}

fn event(line: &str, state: &RunState) -> Event {
    if let Some(words) = line.strip_prefix("open ") {
        return Event::EpochOpened(Box::new(header(words)));
    }
    let (who, what) = line.split_once(' ').unwrap();
    if who == "close" {
        let closing = Closing { success: what == "ok", ..state.closing(0) };
        return Event::EpochClosed(Box::new(closing));
    }
    let (who, number) = who.split_once('#').map_or((who, None), |(w, n)| (w, n.parse().ok()));
    let attempts = state.by_id(who).map_or(0, |step| step.attempts);
    let now = if what == "start" { attempts } else { attempts.saturating_sub(1) };
    let retry_count = number.unwrap_or(now);
    let attempt = Attempt { step: id(who), retry_count, input_digest: Digest::of(b"in") };
    let error = "why".to_owned();
    let end = match what {
        "start" => return Event::AttemptStarted(attempt),
        "skip" => {
            return Event::Skipped { step: id(who), attempts, reason: "--skip".to_owned() };
        }
        "ok" => {
            let output_digest = Digest::of(who.as_bytes());
            End::Success { output_digest, artifacts: BTreeMap::new() }
        }
        "fail" => End::Failed { error, reason: None },
        "stopped" => End::Failed { error, reason: Some(FailReason::Stopped) },
        "interrupted" => End::Failed { error, reason: Some(FailReason::Interrupted) },
        "capped" => End::Failed { error, reason: Some(FailReason::Interruptions) },
        "retry" => End::Retrying { error, retry_at: Timestamp::from_unix_us(5), delay_ms: 1_000 },
        _ => panic!("no such event: {line}"),
    };
    Event::AttemptEnded { attempt, duration_ms: Some(1), end }
}

/// Folds records that are told one a line, or separated by `; `.
pub(crate) fn fold(told: &str) -> Result<RunState, String> {
    let (mut state, mut epoch, mut seq) = (RunState::default(), 0, 0);
    for line in told.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("open ") && state.header().is_some() {
            epoch += 1;
        }
        let event = event(line, &state);
        let timestamp = Timestamp::from_unix_us(0);
        let record = Record { timestamp, seq, epoch, durable: 0, prev: Crc::default(), event };
        let before = state.clone();
        if let Err(error) = state.apply(&record) {
            let opens = line.starts_with("open ");
            assert!(opens || state == before, "a refused record changes nothing: {line}");
            return Err(format!("{line}: {}", error.message));
        }
        seq += 1;
    }
    Ok(state)
}

/// Folds records and tells each step as `id STATUS/attempts`, or what contradicts.
fn check(told: &str, expected: &str) {
    let seen = match fold(told) {
        Ok(state) => {
            let tell = |step: &StepState| format!("{} {}/{}", step.id, step.status, step.attempts);
            state.steps().iter().map(tell).collect::<Vec<_>>().join(", ")
        }
        Err(error) => error,
    };
    assert_eq!(seen, expected, "{told}");
}

#[test]
fn the_last_record_of_a_step_is_its_state() {
    check("open a b<a", "a PENDING/0, b PENDING/0");
    check("open a b<a; a start", "a RUNNING/1, b PENDING/0");
    check("open a b<a; a start; a ok; b start; b ok; close ok", "a SUCCESS/1, b SUCCESS/1");
    check("open a b<a; a start; a fail; close fail", "a FAILED/1, b PENDING/0");
    check("open a; a start; a retry; a start; a ok", "a SUCCESS/2");
    check("open a b<a; a skip; b start; b ok; close ok", "a SKIPPED/0, b SUCCESS/1");
}

#[test]
fn a_new_epoch_opens_what_is_not_finished_and_nothing_else() {
    let dead = "open a b<a c; a start; a ok; b start; b fail; c start; c interrupted; ";
    check(&format!("{dead} open a b<a c"), "a SUCCESS/1, b PENDING/1, c PENDING/1");
    check(&format!("{dead} open a b<a c +rerun:a"), "a PENDING/1, b PENDING/1, c PENDING/1");
    check("open a; a skip; open a", "a SKIPPED/0");
    check("open a; a skip; open a +rerun:a; a start", "a RUNNING/1");
    check("open a; a start; a retry; open a; a start", "a RUNNING/2");
}

#[test]
fn a_renamed_step_has_the_state_and_the_attempts_of_the_old_one() {
    check(
        "open a b<a; a start; a ok; open n b<n +renamed:n:a; b start",
        "n SUCCESS/1, b RUNNING/1",
    );
    check("open a b; a start; a ok; open b; open a b", "a SUCCESS/1, b PENDING/0");
}

#[test]
fn dependents_wait_for_whoever_is_required() {
    check("open a b<a; b start", "b start: `b` starts while `a` is PENDING");
    check("open a b<a; a start; a fail; b start", "b start: `b` starts while `a` is FAILED");
    check("open a? b<a; a start; a fail; b start", "a FAILED/1, b RUNNING/1");
    check("open a? b<a; a start; a stopped; b start", "b start: `b` starts while `a` is FAILED");
    check("open a? b<a; a start; a capped; b start", "a FAILED/1, b RUNNING/1");
    check("open a? b<a; a start; a retry; b start", "b start: `b` starts while `a` is RUNNING");
}

#[test]
fn a_contradiction_is_refused() {
    check("a start", "a start: the first record does not open an epoch");
    check("open a; a start; a start", "a start: `a` starts although it is RUNNING");
    check("open a; a ok", "a ok: `a` ends an attempt that is not open");
    check("open a; a#3 start", "a#3 start: `a` starts as 3, 0 is next");
    check("open a; a start; a#1 ok", "a#1 ok: `a` ends an attempt that is not open");
    check("open a; a start; a ok; a start", "a start: `a` starts although it is SUCCESS");
    check("open a; a start; a fail; a start", "a start: `a` starts although it is FAILED");
    check(
        "open a; a start; close fail",
        "close fail: the epoch closes while `a` has an open attempt",
    );
    check("open a; close ok", "close ok: the summary differs from what the steps add up to");
    check("open a; a start; a ok; close ok; a start", "a start: the epoch was closed before");
    check("open a; b start", "b start: the header does not list `b`");
    check("open a; a start; open a", "open a: an epoch opens while `a` has an open attempt");
    check("open a; a start; a skip", "a skip: `a` is skipped although it is RUNNING");
}

#[test]
fn deaths_in_a_row_are_counted_and_anything_else_ends_the_row() {
    let check = |told: &str, expected: u32| {
        assert_eq!(fold(told).unwrap().by_id("a").unwrap().interruptions, expected, "{told}");
    };
    let death = "open a b; a start; a interrupted; ";
    check(death, 1);
    check(&death.repeat(4), 4);
    check(&format!("{} open a b", death.repeat(4)), 4);
    // An epoch in whose death it was not open ends the row.
    check(&format!("{death} open a b; b start; b interrupted; open a b"), 0);
    check(&format!("{death} open a b; a start; a stopped; open a b"), 0);
    check(&format!("{} open a b; a start; a capped; open a b", death.repeat(5)), 0);
}
