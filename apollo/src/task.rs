//! [`Task`]: a graph, its runners and its parameters: what `task!` expands to.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::digest::Digest;
use crate::graph::{Graph, GraphStep};
use crate::id::{StepId, StepIndex, TaskName};
use crate::policy::{Durability, Need};
use crate::step::{Body, Runner, StepInfo};

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

/// A task of this program or of a crate in it, for listing; nothing that correctness needs, because
/// a linker may drop a crate that nobody names.
#[derive(Debug, Clone, Copy)]
pub struct Registered(pub &'static TaskInfo);

inventory::collect!(Registered);

impl Task {
    /// Makes the task that an expansion of `task!` describes, and the compiler judged.
    ///
    /// # Panics
    /// Where the description was not made by `task!`, and is wrong.
    #[doc(hidden)]
    #[must_use]
    #[expect(clippy::expect_used, reason = "the compiler judged what stands here")]
    pub fn from_info(info: &'static TaskInfo) -> Self {
        let name = TaskName::parse(info.name).expect("`task!` takes only legal names");
        let graph = Graph::new(graph_steps(info)).expect("the compiler judged this graph");
        Self { name, info, graph, runners: info.runners.to_vec() }
    }

    /// The tasks that this program holds, sorted by name; see [`Registered`] for what it can miss.
    #[must_use]
    pub fn registered() -> Vec<Self> {
        let mut infos: Vec<_> = inventory::iter::<Registered>().map(|task| task.0).collect();
        infos.sort_by_key(|info| info.name);
        infos.into_iter().map(Self::from_info).collect()
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &TaskName {
        &self.name
    }

    /// Its description.
    #[must_use]
    pub const fn info(&self) -> &'static TaskInfo {
        self.info
    }

    /// Its steps and what each depends on.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Whether a parameter's value must never be written down.
    #[must_use]
    pub fn is_secret(&self, param: &str) -> bool {
        self.info.params.iter().any(|declared| declared.name == param && declared.secret)
    }

    /// The functions of a step.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "a StepIndex of this task's graph has a runner")]
    pub fn runner(&self, step: StepIndex) -> &Runner {
        &self.runners[step.get()]
    }
}

/// The steps of a task as the graph's, dependencies turned from keys into indexes.
fn graph_steps(info: &TaskInfo) -> Vec<GraphStep> {
    let by_key: HashMap<_, _> =
        (0..).map(StepIndex).zip(info.steps).map(|(index, step)| (step.this.key, index)).collect();
    let steps = info.steps.iter().zip(info.runners);
    steps.map(|(step, runner)| graph_step(info, step, runner, &by_key)).collect()
}

#[expect(clippy::expect_used, reason = "the macro judged what stands here")]
fn graph_step(
    info: &TaskInfo,
    step: &StepInfo,
    runner: &Runner,
    by_key: &HashMap<u128, StepIndex>,
) -> GraphStep {
    let dependencies = step.depends_on;
    let depends_on = dependencies.iter().filter_map(|one| by_key.get(&one.step.key)).copied();
    let definition = definition(step, runner);
    let id = |text| StepId::parse(text).expect("`#[step]` takes only legal ids");
    GraphStep {
        id: id(step.this.id),
        depends_on: depends_on.collect(),
        needs_value: dependencies.iter().map(|one| one.value).collect(),
        need: step.need,
        retry: step.retry.resolve(info.max_retries, info.retry_delay),
        timeout: step.timeout,
        durability: step.durability.unwrap_or(info.durability),
        start_is_synced: runner.cleanup.is_some() || runner.probe.is_some(),
        version: step.version,
        renamed_from: step.renamed_from.map(id),
        params: step.params.iter().map(|param| param.name.to_owned()).collect(),
        digest: Digest::of_json(&definition),
        definition,
        on_unknown: step.on_unknown,
    }
}

/// A step's definition: what is left out can change without a question on resume.
fn definition(step: &StepInfo, runner: &Runner) -> Value {
    let kind = match runner.body {
        Body::Function(_) => "function",
        Body::Future(_) => "async",
    };
    let depends_on: Vec<_> = step.depends_on.iter().map(|one| one.step.id).collect();
    let params: Vec<_> = step
        .params
        .iter()
        .map(|param| json!({"name": param.name, "type": param.type_name}))
        .collect();
    json!({
        "id": step.this.id,
        "version": step.version,
        "kind": kind,
        "depends_on": depends_on,
        "optional": step.need == Need::Optional,
        "command": null,
        "cleanup_command": null,
        "inputs": step.input_types,
        "output": step.output_type,
        "params": params,
    })
}
