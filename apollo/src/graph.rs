//! [`Graph`]: the steps of a task and what each depends on, judged.
//!
//! It is not what a step does: runners stand in `task`.

use std::time::Duration;

use crate::digest::Digest;
use crate::id::{StepId, StepIndex};
use crate::policy::{Durability, Need, OnUnknown, RetryPolicy};

/// One step of a graph.
#[derive(Debug, Clone)]
pub struct GraphStep {
    /// Its id, unique in the graph.
    pub id: StepId,
    /// What it depends on, in the order written.
    pub depends_on: Vec<StepIndex>,
    /// Indexed like `depends_on`: whether the body can't run without that step's value.
    pub needs_value: Vec<bool>,
    /// Whether the task can succeed without it.
    pub need: Need,
    /// How it is retried.
    pub retry: RetryPolicy,
    /// The longest time an attempt may take.
    pub timeout: Option<Duration>,
    /// When its records count as durable.
    pub durability: Durability,
    /// Whether its STEP_START is synced even with durability `batch`: it has a cleanup, a probe or
    /// a command.
    pub start_is_synced: bool,
    /// Raised by its author when its meaning changes.
    pub version: u32,
    /// The id that it had before.
    pub renamed_from: Option<StepId>,
    /// The names of the parameters that it takes.
    pub params: Vec<String>,
    /// Covers its definition, not its body.
    pub digest: Digest,
    /// What `once` does when nobody knows whether the effect happened.
    pub on_unknown: OnUnknown,
}

/// The steps of a task, indexed by [`StepIndex`] in the order of declaration.
#[derive(Debug, Clone)]
pub struct Graph {
    steps: Vec<GraphStep>,
    /// Indexed by [`StepIndex`]; `len == steps.len()`.
    dependents: Vec<Vec<StepIndex>>,
    digest: Digest,
}

impl Graph {
    /// The steps, in the order of declaration.
    #[must_use]
    pub fn steps(&self) -> &[GraphStep] {
        &self.steps
    }
    /// The steps that depend directly on one.
    #[must_use]
    pub fn dependents(&self, step: StepIndex) -> &[StepIndex] {
        &self.dependents[step.get()]
    }
    /// Covers every step's digest and the order of declaration.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}
