//! Events of runs that nobody ran, for logs that are made without a pipeline.
//!
//! They are not checked here: whether they can follow each other, the log and its fold decide.

use apollo::{
    Attempt, Digest, End, Event, Header, HeaderStep, OpenReason, RetryPolicy, SCHEMA, StepId,
    TaskId, TaskName, Timestamp,
};

/// A step called so.
///
/// # Panics
/// When nothing may be called so.
pub fn step(id: &str) -> StepId {
    StepId::parse(id).expect("an id")
}

/// The epoch of a task `t` with these steps, none of which waits for another, opens.
pub fn opened(steps: &[StepId]) -> Event {
    let retry = serde_json::json!({
        "policy": "fixed", "max_retries": 1_000_000, "delay_ms": 30_000, "cap_ms": null,
        "jitter": false,
    });
    let retry: RetryPolicy = serde_json::from_value(retry).expect("a policy");
    let listed = |id: &StepId| HeaderStep {
        id: id.clone(),
        depends_on: vec![],
        optional: false,
        retry,
        timeout_ms: None,
        digest: Digest::of(b"definition"),
        version: 1,
    };
    Event::EpochOpened(Box::new(Header {
        schema: SCHEMA,
        apollo: "0.1.0".to_owned(),
        task: TaskName::parse("t").expect("a name"),
        task_id: TaskId::parse("t").expect("an id"),
        params: <_>::default(),
        graph_digest: Digest::of(b"graph"),
        max_parallel: 2,
        reason: OpenReason::Start,
        steps: steps.iter().map(listed).collect(),
        rerun: vec![],
        resume_from: None,
        renamed: <_>::default(),
        warnings: vec![],
        host: "n1".to_owned(),
        pid: 1,
        program: None,
    }))
}

/// An attempt of a step.
pub fn attempt(step: &StepId, retry_count: u32) -> Attempt {
    Attempt { step: step.clone(), retry_count, input_digest: Digest::of(step.as_str().as_bytes()) }
}

/// An attempt begins, and ends as a success.
pub fn succeeded(step: &StepId, retry_count: u32) -> [Event; 2] {
    let output_digest = Digest::of(b"null");
    whole(attempt(step, retry_count), End::Success { output_digest, artifacts: <_>::default() })
}

/// An attempt begins, and ends so that another one follows.
pub fn retried(step: &StepId, retry_count: u32) -> [Event; 2] {
    let end = End::Retrying {
        error: "no answer from 10.0.0.7:5432: connection refused (os error 111)".to_owned(),
        retry_at: Timestamp::from_unix_us(1_794_000_000_000_789),
        delay_ms: 30_000,
    };
    whole(attempt(step, retry_count), end)
}

fn whole(attempt: Attempt, end: End) -> [Event; 2] {
    let started = Event::AttemptStarted(attempt.clone());
    [started, Event::AttemptEnded { attempt, duration_ms: Some(1_234), end }]
}
