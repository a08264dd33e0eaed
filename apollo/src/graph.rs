//! [`Graph`]: the steps of a task and what each depends on, judged.
//!
//! It is not what a step does: runners stand in `task`. It is not the judgement of `task!` either,
//! which the compiler makes in `check`; this one is for graphs that are made while a program runs.
//!
//! **Invariant:** a graph has a step, its ids are unique, its dependencies are steps of it, and
//! there is no cycle; so everything that walks it ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;

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
    /// What `digest` is taken of.
    pub definition: Value,
    /// Covers its definition, not its body.
    pub digest: Digest,
    /// What `once` does when nobody knows whether the effect happened.
    pub on_unknown: OnUnknown,
}

impl GraphStep {
    /// The digest that its definition would have if every renamed step, `{new: old}`, still had its
    /// old id: a new name alone is no change.
    #[must_use]
    pub fn digest_before(&self, renamed: &BTreeMap<StepId, StepId>) -> Digest {
        if renamed.is_empty() {
            return self.digest;
        }
        let old = |id: &mut Value| {
            if let Some(old) = id.as_str().and_then(|id| renamed.get(id)) {
                *id = Value::from(old.as_str());
            }
        };
        let mut definition = self.definition.clone();
        if let Some(id) = definition.get_mut("id") {
            old(id);
        }
        if let Some(depends_on) = definition.get_mut("depends_on").and_then(Value::as_array_mut) {
            depends_on.iter_mut().for_each(old);
        }
        Digest::of_json(&definition)
    }
}

/// The steps of a task, indexed by [`StepIndex`] in the order of declaration.
#[derive(Debug, Clone)]
pub struct Graph {
    steps: Vec<GraphStep>,
    /// Indexed by [`StepIndex`]; `len == steps.len()`.
    dependents: Vec<Vec<StepIndex>>,
    /// Each step once, after all that it depends on.
    topological: Vec<StepIndex>,
    by_id: HashMap<StepId, StepIndex>,
    digest: Digest,
}

/// Why steps make no graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// There is no step.
    #[error("a task needs at least one step")]
    Empty,
    /// Two steps have one id.
    #[error("two steps have the id `{id}`; give one of them another")]
    SameId {
        /// The id.
        id: StepId,
    },
    /// A dependency is an index behind the last step.
    #[error("step `{id}` depends on step number {index}, which does not exist")]
    NoSuchStep {
        /// The dependent.
        id: StepId,
        /// The dependency.
        index: u32,
    },
    /// A step names a dependency twice.
    #[error("step `{id}` depends on `{dependency}` twice; remove one of the two")]
    Twice {
        /// The dependent.
        id: StepId,
        /// The dependency.
        dependency: StepId,
    },
    /// Steps wait for each other.
    #[error("dependency cycle: {}; remove one of these dependencies", closed(.cycle))]
    Cycle {
        /// Each depends on the next, the last on the first.
        cycle: Vec<StepId>,
    },
}

fn closed(cycle: &[StepId]) -> String {
    let ids: Vec<_> = cycle.iter().chain(cycle.first()).map(StepId::as_str).collect();
    ids.join(" -> ")
}

#[expect(clippy::indexing_slicing, reason = "a StepIndex that `new` let in is a step of the graph")]
impl Graph {
    /// Makes a graph of steps.
    ///
    /// # Errors
    /// [`GraphError`] with the first mistake: no step, an id or a dependency twice, an index that
    /// is no step, a cycle.
    pub fn new(steps: Vec<GraphStep>) -> Result<Self, GraphError> {
        let by_id = index_ids(&steps)?;
        let mut dependents = vec![Vec::new(); steps.len()];
        for (dependent, step) in indices(steps.len()).zip(&steps) {
            for (position, dependency) in step.depends_on.iter().enumerate() {
                let entry = dependents.get_mut(dependency.get()).ok_or_else(|| {
                    GraphError::NoSuchStep { id: step.id.clone(), index: dependency.0 }
                })?;
                if step.depends_on[..position].contains(dependency) {
                    let dependency = steps[dependency.get()].id.clone();
                    return Err(GraphError::Twice { id: step.id.clone(), dependency });
                }
                entry.push(dependent);
            }
        }
        let topological = sort(&steps, &dependents);
        if topological.len() < steps.len() {
            return Err(GraphError::Cycle { cycle: cycle(&steps, &topological) });
        }
        let digests = steps.iter().map(|step| Value::from(step.digest.to_string())).collect();
        let digest = Digest::of_json(&Value::Array(digests));
        Ok(Self { steps, dependents, topological, by_id, digest })
    }

    /// The steps, in the order of declaration.
    #[must_use]
    pub fn steps(&self) -> &[GraphStep] {
        &self.steps
    }

    /// The step at an index.
    #[must_use]
    pub fn step(&self, step: StepIndex) -> &GraphStep {
        &self.steps[step.get()]
    }

    /// The steps that depend directly on one, in the order of declaration.
    #[must_use]
    pub fn dependents(&self, step: StepIndex) -> &[StepIndex] {
        &self.dependents[step.get()]
    }

    /// The step with an id.
    #[must_use]
    pub fn index_of(&self, id: &str) -> Option<StepIndex> {
        self.by_id.get(id).copied()
    }

    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Never: a graph has a step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The indexes of all steps, in the order of declaration.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = StepIndex> + use<> {
        indices(self.steps.len())
    }

    /// Each step once, after all that it depends on; of steps that could come next, the one that
    /// was declared first.
    #[must_use]
    pub fn topological(&self) -> &[StepIndex] {
        &self.topological
    }

    /// All steps that depend on one, directly or through others, sorted.
    #[must_use]
    pub fn descendants(&self, step: StepIndex) -> Vec<StepIndex> {
        reachable(step, self.len(), |at| self.dependents(at))
    }

    /// All steps that one depends on, directly or through others, sorted.
    #[must_use]
    pub fn ancestors(&self, step: StepIndex) -> Vec<StepIndex> {
        reachable(step, self.len(), |at| &self.step(at).depends_on)
    }

    /// Covers every step's digest and the order of declaration.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

#[expect(clippy::expect_used, reason = "the sentence below is true")]
fn indices(len: usize) -> impl ExactSizeIterator<Item = StepIndex> + use<> {
    let len = u32::try_from(len).expect("a graph of 2^32 steps does not fit into memory");
    (0..len).map(StepIndex)
}

fn index_ids(steps: &[GraphStep]) -> Result<HashMap<StepId, StepIndex>, GraphError> {
    if steps.is_empty() {
        return Err(GraphError::Empty);
    }
    let mut by_id = HashMap::with_capacity(steps.len());
    for (index, step) in indices(steps.len()).zip(steps) {
        if by_id.insert(step.id.clone(), index).is_some() {
            return Err(GraphError::SameId { id: step.id.clone() });
        }
    }
    Ok(by_id)
}

/// Kahn's order; steps that wait for a cycle are not in it.
#[expect(clippy::indexing_slicing, reason = "every index is below the number of steps")]
fn sort(steps: &[GraphStep], dependents: &[Vec<StepIndex>]) -> Vec<StepIndex> {
    let mut waits_for: Vec<_> = steps.iter().map(|step| step.depends_on.len()).collect();
    let mut ready: BTreeSet<_> =
        indices(steps.len()).filter(|step| waits_for[step.get()] == 0).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(step) = ready.pop_first() {
        order.push(step);
        for &dependent in &dependents[step.get()] {
            waits_for[dependent.get()] -= 1;
            if waits_for[dependent.get()] == 0 {
                ready.insert(dependent);
            }
        }
    }
    order
}

/// A cycle among the steps that [`sort`] left out, beginning with its first step.
#[expect(clippy::indexing_slicing, reason = "every index is below the number of steps")]
fn cycle(steps: &[GraphStep], sorted: &[StepIndex]) -> Vec<StepId> {
    let mut left = vec![true; steps.len()];
    for step in sorted {
        left[step.get()] = false;
    }
    // Whoever was left out depends on one that was left out: this walk must come back.
    let mut seen_at = vec![None; steps.len()];
    let mut path = Vec::new();
    let mut at = indices(steps.len()).find(|step| left[step.get()]);
    while let Some(step) = at {
        if let Some(start) = seen_at[step.get()] {
            let mut found = path.split_off(start);
            let first = found.iter().enumerate().min_by_key(|(_, step)| **step);
            let turn = first.map_or(0, |(position, _)| position);
            found.rotate_left(turn);
            return found.iter().map(|step: &StepIndex| steps[step.get()].id.clone()).collect();
        }
        seen_at[step.get()] = Some(path.len());
        path.push(step);
        at = steps[step.get()].depends_on.iter().copied().find(|next| left[next.get()]);
    }
    Vec::new()
}

#[expect(clippy::indexing_slicing, reason = "every index is below the number of steps")]
fn reachable<'a>(
    from: StepIndex,
    len: usize,
    next: impl Fn(StepIndex) -> &'a [StepIndex],
) -> Vec<StepIndex> {
    let mut seen = vec![false; len];
    let mut open = vec![from];
    while let Some(step) = open.pop() {
        for &neighbour in next(step) {
            if !std::mem::replace(&mut seen[neighbour.get()], true) {
                open.push(neighbour);
            }
        }
    }
    indices(len).filter(|step| seen[step.get()]).collect()
}
