//! [`Report`]: what a log says of a run, as plain data for people and for JSON.
//!
//! It is not the reading of a log, nor the screen: state and liveness come in, a value goes out.
//!
//! **Invariant:** it needs nothing but the log: the program that wrote it may be gone.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::id::{RunId, StepId, StepIndex};
use crate::record::FailReason;
use crate::replay::{RunState, StepState};
use crate::state::Status;
use crate::time::Timestamp;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Standing {
    /// A process works on it.
    Running,
    /// Its process ended without closing it; the next run goes on.
    Interrupted,
    /// Done.
    Success,
    /// Done, without optional steps that failed.
    Degraded,
    /// Closed without success; the next run tries again.
    Failed,
    /// It has no record: it never began.
    Empty,
}

/// Who works on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Worker {
    /// The process.
    pub(crate) pid: u32,
    /// The machine.
    pub(crate) host: String,
    /// Since when.
    pub(crate) since: Timestamp,
}

/// Whether a process works on the run, as the kernel's lock says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Live {
    /// One does: who, where that can be read.
    Yes(Option<Worker>),
    /// None does.
    No,
}

/// What a log says of a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    /// The run.
    pub(crate) run: RunId,
    /// The task, and the logical instance; unknown before the first record.
    pub(crate) task: Option<String>,
    pub(crate) task_id: String,
    /// How it stands.
    pub(crate) state: Standing,
    /// Who works on it.
    pub(crate) worker: Option<Worker>,
    /// The log's file.
    pub(crate) log: String,
    /// The newest epoch, from 0.
    pub(crate) epoch: u32,
    /// How many records there are, and when the last was made.
    pub(crate) records: u64,
    pub(crate) last_record: Option<Timestamp>,
    /// The parameters; of secret ones the names.
    pub(crate) params: BTreeMap<String, Option<String>>,
    /// In the order of declaration.
    pub(crate) steps: Vec<StepReport>,
    /// The steps that can run next.
    pub(crate) next: Vec<StepId>,
    /// The optional steps that the run was done without.
    pub(crate) degraded: Vec<StepId>,
    /// What the newest epoch warned of.
    pub(crate) warnings: Vec<String>,
    /// What follows the last record, in bytes.
    pub(crate) torn_bytes: u64,
}

/// What a log says of a step.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StepReport {
    /// The step.
    pub(crate) id: StepId,
    /// Its state.
    pub(crate) status: Status,
    /// Whether the task can succeed without it.
    pub(crate) optional: bool,
    /// How many attempts were started in the run.
    pub(crate) attempts: u32,
    /// When its last attempt began and ended, and how long it took.
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) duration_ms: Option<u64>,
    /// The dependencies that it waits for, and their states.
    pub(crate) waits_for: Vec<(StepId, Status)>,
    /// Whether its last attempt was open when the process ended.
    pub(crate) cut_off: bool,
    /// When its next attempt is due.
    pub(crate) retry_at: Option<Timestamp>,
    /// Who skipped it.
    pub(crate) skipped_by: Option<String>,
    /// What its last failed attempt said.
    pub(crate) error: Option<String>,
    /// Why it failed, where it was not its body that failed.
    pub(crate) reason: Option<&'static str>,
    /// Optional dependencies that it went without, and that succeeded later.
    pub(crate) stale: Vec<StepId>,
}

impl Report {
    /// Says what a log says.
    #[must_use]
    pub(crate) fn new(run: &RunId, log: String, state: &RunState, live: Live) -> Self {
        let header = state.header();
        let worker = match &live {
            Live::Yes(worker) => worker.clone(),
            Live::No => None,
        };
        let indices = || (0..).map(StepIndex).zip(state.steps());
        let is_live = live != Live::No && state.closed().is_none();
        Self {
            run: run.clone(),
            task: header.map(|header| header.task.to_string()),
            task_id: run.parts().0.to_string(),
            state: standing(state, &live),
            worker: worker.filter(|_| is_live),
            log,
            epoch: state.epoch(),
            records: state.records(),
            last_record: state.last(),
            params: state.first_header().map(|first| first.params.clone()).unwrap_or_default(),
            steps: indices().map(|(_index, step)| report(state, step, is_live)).collect(),
            next: indices()
                .filter(|(_index, step)| is_next(state, step, is_live))
                .map(|(_index, step)| step.id.clone())
                .collect(),
            degraded: state.closed().map(|closed| closed.degraded.clone()).unwrap_or_default(),
            warnings: header.map(|header| header.warnings.clone()).unwrap_or_default(),
            torn_bytes: 0,
        }
    }
}

fn standing(state: &RunState, live: &Live) -> Standing {
    match (state.closed(), live) {
        (Some(closed), _) if !closed.success => Standing::Failed,
        (Some(closed), _) if closed.degraded.is_empty() => Standing::Success,
        (Some(_), _) => Standing::Degraded,
        (None, Live::Yes(_)) => Standing::Running,
        (None, Live::No) if state.header().is_none() => Standing::Empty,
        (None, Live::No) => Standing::Interrupted,
    }
}

fn report(state: &RunState, step: &StepState, is_live: bool) -> StepReport {
    let described = state.described(step.id.as_str());
    let waits = match step.status {
        Status::Pending => unsatisfied(state, step, is_live).collect(),
        Status::Running | Status::Success | Status::Failed | Status::Skipped => Vec::new(),
    };
    StepReport {
        id: step.id.clone(),
        status: step.status,
        optional: described.is_some_and(|described| described.optional),
        attempts: step.attempts,
        started: step.started,
        ended: step.ended,
        duration_ms: step.duration_ms,
        waits_for: waits,
        cut_off: step.open.is_some() && !is_live,
        retry_at: step.retry.map(|retry| retry.retry_at),
        skipped_by: step.skipped.clone(),
        error: step.error.clone(),
        reason: step.reason.map(FailReason::as_str),
        stale: stale(state, step),
    }
}

fn dependencies<'a>(
    state: &'a RunState,
    step: &StepState,
) -> impl Iterator<Item = (StepIndex, &'a StepState)> {
    let described = state.described(step.id.as_str());
    let ids = described.map_or(&[][..], |described| described.depends_on.as_slice());
    ids.iter().filter_map(|id| {
        let index = state.index_of(id.as_str())?;
        Some((index, state.step(index)))
    })
}

/// The dependencies that a step waits for: in a living epoch those that are not over, otherwise
/// also those that the next epoch opens again.
fn unsatisfied<'a>(
    state: &'a RunState,
    step: &StepState,
    is_live: bool,
) -> impl Iterator<Item = (StepId, Status)> + use<'a> {
    dependencies(state, step)
        .filter(move |(index, on)| {
            let is_over =
                if is_live { state.is_satisfied(*index) } else { on.status.is_finished() };
            !is_over
        })
        .map(|(_index, on)| (on.id.clone(), on.status))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Whether a step starts next: now, or when the run goes on.
fn is_next(state: &RunState, step: &StepState, is_live: bool) -> bool {
    let may_start = match step.status {
        Status::Success | Status::Skipped => false,
        Status::Pending => true,
        Status::Running => !is_live || step.open.is_none(),
        Status::Failed => !is_live,
    };
    may_start && !state.is_success() && unsatisfied(state, step, is_live).next().is_none()
}

fn stale(state: &RunState, step: &StepState) -> Vec<StepId> {
    let Some(done_in) = step.succeeded_in.filter(|_| step.status == Status::Success) else {
        return Vec::new();
    };
    let later = dependencies(state, step).filter(|(_index, on)| {
        let optional = state.described(on.id.as_str()).is_some_and(|described| described.optional);
        optional && on.status == Status::Success && on.succeeded_in > Some(done_in)
    });
    later.map(|(_index, on)| on.id.clone()).collect()
}

#[cfg(test)]
mod tests;
