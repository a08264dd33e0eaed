//! [`Task`]: a graph, its runners and its parameters: what `task!` expands to.

use std::time::Duration;

use crate::graph::Graph;
use crate::id::TaskName;
use crate::policy::Durability;
use crate::step::{Runner, StepInfo};

/// The declaration of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct ParamInfo {
    /// Its name.
    pub name: &'static str,
    /// Its type as written.
    pub type_name: &'static str,
    /// Its documentation.
    pub doc: &'static str,
    /// The text of its default.
    pub default: Option<&'static str>,
    /// Whether its value must never be written down.
    pub secret: bool,
    /// Parses a text as the type and gives the type's own text of the value.
    pub normalize: fn(&str) -> Result<String, String>,
}

/// Everything about a task that is known when the program is compiled.
#[derive(Debug, Clone, Copy)]
pub struct TaskInfo {
    /// Its name.
    pub name: &'static str,
    /// Its documentation.
    pub doc: &'static str,
    /// The largest number of retries of a step whose policy does not say.
    pub max_retries: u32,
    /// The wait before the first retry of a step whose policy does not say.
    pub retry_delay: Duration,
    /// The largest number of steps at once; the number of CPUs when `None`.
    pub max_parallel: Option<u32>,
    /// When the records of a step that does not say count as durable.
    pub durability: Durability,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its steps, in the order of declaration.
    pub steps: &'static [&'static StepInfo],
    /// Indexed like `steps`; `len == steps.len()`.
    pub runners: &'static [Runner],
}

/// A task that can be run.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its name.
    pub(crate) name: TaskName,
    pub(crate) info: &'static TaskInfo,
    pub(crate) graph: Graph,
    /// Indexed by `StepIndex`; `len == graph.steps().len()`.
    pub(crate) runners: Vec<Runner>,
}
