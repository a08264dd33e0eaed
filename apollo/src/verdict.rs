//! [`Comparison`]: what a program's graph means for a run that another build began.
//!
//! It is not the decision to go on: `opening` takes it, with the person's choices.
//!
//! **Invariant:** no step becomes green by vanishing, and none runs again for a comment: only
//! definitions are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::graph::{Graph, GraphStep};
use crate::id::{StepId, StepIndex};
use crate::replay::{RunState, StepState};
use crate::state::Status;

/// What happens to one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays as it is: finished, or to be run as before.
    Kept,
    /// It is finished and runs again, because its version rose.
    Rerun,
    /// The run has never heard of it.
    Added,
    /// Its definition changed.
    Changed,
    /// The program does not have it any more.
    Removed,
    /// It goes on under a new id.
    Renamed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Kept => "kept",
            Self::Rerun => "rerun",
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
        })
    }
}

/// The verdict on one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepVerdict {
    /// The step.
    pub id: StepId,
    /// What happens to it.
    pub verdict: Verdict,
    /// Its state in the run.
    pub status: Option<Status>,
    /// Whether a person has to accept it.
    pub needs_consent: bool,
    /// The reason in words.
    pub why: String,
}

/// What a program's graph means for a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// One verdict a step: those of the graph in its order, then the removed ones.
    pub verdicts: Vec<StepVerdict>,
    /// New id to old id.
    pub renamed: BTreeMap<StepId, StepId>,
    /// Finished steps whose version rose.
    pub risen: Vec<StepIndex>,
}

impl Comparison {
    /// Compares a graph with a run.
    #[must_use]
    pub(crate) fn new(graph: &Graph, run: &RunState) -> Self {
        let renamed: BTreeMap<_, _> =
            graph.steps().iter().filter_map(|step| renaming(graph, run, step)).collect();
        let mut this = Self { renamed, ..Self::default() };
        for (index, step) in graph.indices().zip(graph.steps()) {
            let verdict = this.judge(step, before(&this.renamed, run, &step.id));
            if verdict.verdict == Verdict::Rerun {
                this.risen.push(index);
            }
            this.verdicts.push(verdict);
        }
        let carried: BTreeSet<_> = this.renamed.values().collect();
        let removed = run
            .steps()
            .iter()
            .filter(|step| {
                graph.index_of(step.id.as_str()).is_none() && !carried.contains(&step.id)
            })
            .map(removal)
            .collect::<Vec<_>>();
        this.verdicts.extend(removed);
        this
    }

    /// Whether the graph is the one that the run was begun with.
    #[must_use]
    pub(crate) fn is_same(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.verdict == Verdict::Kept)
    }

    /// Whether a person has to accept the changes.
    #[must_use]
    pub(crate) fn needs_consent(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.needs_consent)
    }

    /// The state of a step of the graph before this epoch, under whatever id.
    #[must_use]
    pub(crate) fn state<'a>(&self, run: &'a RunState, id: &StepId) -> Option<&'a StepState> {
        before(&self.renamed, run, id)
    }

    fn judge(&self, step: &GraphStep, state: Option<&StepState>) -> StepVerdict {
        let made = |verdict, needs_consent, why: &str| StepVerdict {
            id: step.id.clone(),
            verdict,
            status: state.map(|state| state.status),
            needs_consent,
            why: why.to_owned(),
        };
        let Some(state) = state else {
            return made(Verdict::Added, false, "it is new and runs");
        };
        let same = state.definition.is_none_or(|old| old == step.digest_before(&self.renamed));
        let finished = state.status.is_finished();
        match (same, finished) {
            (true, _) if self.renamed.contains_key(&step.id) => {
                made(Verdict::Renamed, false, &format!("it was `{}`", state.id))
            }
            (true, _) => made(Verdict::Kept, false, ""),
            (false, false) => made(Verdict::Changed, false, "it runs as it is defined now"),
            (false, true) if step.version > state.version => {
                made(Verdict::Rerun, true, "its version rose: it and what depends on it run again")
            }
            (false, true) => made(
                Verdict::Changed,
                true,
                "it is finished and its definition changed: it is kept",
            ),
        }
    }
}

fn removal(state: &StepState) -> StepVerdict {
    let finished = state.status.is_finished();
    StepVerdict {
        id: state.id.clone(),
        verdict: Verdict::Removed,
        status: Some(state.status),
        needs_consent: !finished,
        why: if finished { "it is finished" } else { "it never finished and would be left out" }
            .to_owned(),
    }
}

fn renaming(graph: &Graph, run: &RunState, step: &GraphStep) -> Option<(StepId, StepId)> {
    let old = step.renamed_from.as_ref()?;
    let is_known = run.by_id(step.id.as_str()).is_some();
    let moves = !is_known && graph.index_of(old.as_str()).is_none();
    (moves && run.by_id(old.as_str()).is_some()).then(|| (step.id.clone(), old.clone()))
}

fn before<'a>(
    renamed: &BTreeMap<StepId, StepId>,
    run: &'a RunState,
    id: &StepId,
) -> Option<&'a StepState> {
    run.by_id(renamed.get(id).unwrap_or(id).as_str())
}

#[cfg(test)]
mod tests;
