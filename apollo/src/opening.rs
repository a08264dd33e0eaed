//! [`Opening`]: what an epoch begins with: which steps run again, which are skipped, and why.
//!
//! It is not the header's author: the engine adds what only it knows, such as host and pid.
//!
//! **Invariant:** everything that can be refused is refused here, before a record is written.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::id::{StepId, StepIndex};
use crate::record::OpenReason;
use crate::replay::{RunState, StepState};
use crate::verdict::{Comparison, StepVerdict};

/// What a person chose for this epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    /// Run this step and its descendants again.
    pub resume_from: Option<StepId>,
    /// Leave these steps out.
    pub skip: Vec<StepId>,
    /// Go on although finished steps changed or unfinished ones vanished.
    pub accept_changes: bool,
}

/// What an epoch begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Why it is opened.
    pub reason: OpenReason,
    /// Finished steps that run again, in the order of declaration.
    pub rerun: Vec<StepId>,
    /// New id to old id.
    pub renamed: BTreeMap<StepId, StepId>,
    /// Steps that are skipped, with the reason.
    pub skips: BTreeMap<StepIndex, String>,
    /// Steps that may run: neither finished nor skipped.
    pub runs: BTreeSet<StepIndex>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Why an epoch is not opened; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The graph differs from the run's in a way that a person has to accept.
    #[error("the graph differs from the one that the run was begun with")]
    ChangedGraph {
        /// What would happen to each step.
        verdicts: Vec<StepVerdict>,
    },
    /// A choice names a step that the task does not have.
    #[error("`{id}` is no step of the task; its steps are {known}")]
    UnknownStep {
        /// The id as it was given.
        id: StepId,
        /// The steps that there are.
        known: String,
    },
    /// A step would run without a value that it needs.
    #[error("`{step}` needs the output of `{dependency}`, which {why}")]
    MissingOutput {
        /// The step that can't run.
        step: StepId,
        /// The step whose output is missing.
        dependency: StepId,
        /// Why there is none.
        why: &'static str,
    },
}

/// Says what is wrong with the stored output or artifacts of a step, `None` when all is well.
pub(crate) type FindLoss<'a> = &'a mut dyn FnMut(&StepState) -> Option<String>;

/// Decides what an epoch begins with.
///
/// # Errors
/// [`Refusal`]; nothing was written.
pub(crate) fn open(
    graph: &Graph,
    run: &RunState,
    choices: &Choices,
    find_loss: FindLoss<'_>,
) -> Result<Opening, Refusal> {
    let comparison = Comparison::new(graph, run);
    if comparison.needs_consent() && !choices.accept_changes {
        return Err(Refusal::ChangedGraph { verdicts: comparison.verdicts });
    }
    let mut draft =
        Draft { graph, run, comparison, rerun: BTreeSet::new(), skips: BTreeMap::new() };
    let mut warnings = Vec::new();
    for step in draft.comparison.risen.clone() {
        draft.rerun_with_descendants(step);
    }
    if let Some(id) = &choices.resume_from {
        let step = draft.index_of(id)?;
        draft.resume_from(step, &mut warnings);
    }
    for id in &choices.skip {
        let step = draft.index_of(id)?;
        if draft.is_open(step) {
            draft.skips.insert(step, "--skip".to_owned());
        } else {
            warnings.push(format!("`{id}` is not skipped: it is finished"));
        }
    }
    draft.check_inputs(find_loss, &mut warnings)?;
    Ok(draft.finish(choices, warnings))
}

struct Draft<'a> {
    graph: &'a Graph,
    run: &'a RunState,
    comparison: Comparison,
    rerun: BTreeSet<StepIndex>,
    skips: BTreeMap<StepIndex, String>,
}

impl Draft<'_> {
    fn state(&self, step: StepIndex) -> Option<&StepState> {
        self.comparison.state(self.run, &self.graph.step(step).id)
    }

    fn is_finished(&self, step: StepIndex) -> bool {
        self.state(step).is_some_and(|state| state.status.is_finished())
    }

    /// Whether the epoch has it PENDING at its beginning.
    fn is_open(&self, step: StepIndex) -> bool {
        !self.is_finished(step) || self.rerun.contains(&step)
    }

    fn runs(&self, step: StepIndex) -> bool {
        self.is_open(step) && !self.skips.contains_key(&step)
    }

    fn index_of(&self, id: &StepId) -> Result<StepIndex, Refusal> {
        self.graph.index_of(id.as_str()).ok_or_else(|| {
            let known: Vec<_> = self.graph.steps().iter().map(|step| step.id.as_str()).collect();
            Refusal::UnknownStep { id: id.clone(), known: known.join(", ") }
        })
    }

    fn rerun_with_descendants(&mut self, step: StepIndex) {
        let all = std::iter::once(step).chain(self.graph.descendants(step));
        let finished: Vec<_> = all.filter(|step| self.is_finished(*step)).collect();
        self.rerun.extend(finished);
    }

    fn resume_from(&mut self, step: StepIndex, warnings: &mut Vec<String>) {
        self.rerun_with_descendants(step);
        let id = &self.graph.step(step).id;
        let unfinished: Vec<_> =
            self.graph.ancestors(step).into_iter().filter(|step| self.is_open(*step)).collect();
        let names: Vec<_> =
            unfinished.iter().map(|step| self.graph.step(*step).id.as_str()).collect();
        let skipped = match names.as_slice() {
            [] => String::new(),
            _ => format!("; skipped without having finished: {}", names.join(", ")),
        };
        warnings.push(format!("resumed from `{id}` on request{skipped}"));
        let reason = format!("--resume-from {id}");
        self.skips.extend(unfinished.into_iter().map(|step| (step, reason.clone())));
    }

    /// Sees to it that every step that runs finds the values that it needs.
    fn check_inputs(
        &mut self,
        find_loss: FindLoss<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let mut seen = BTreeSet::new();
        let mut todo: Vec<_> = self.graph.indices().filter(|step| self.runs(*step)).collect();
        while let Some(step) = todo.pop() {
            let node = self.graph.step(step);
            for (&dependency, &needs_value) in node.depends_on.iter().zip(&node.needs_value) {
                if self.runs(dependency) {
                    continue;
                }
                let missing = |why| Refusal::MissingOutput {
                    step: node.id.clone(),
                    dependency: self.graph.step(dependency).id.clone(),
                    why,
                };
                let Some(state) = self.state(dependency).filter(|state| state.output.is_some())
                else {
                    if needs_value {
                        return Err(missing("is skipped and never produced one"));
                    }
                    continue;
                };
                if !seen.insert(dependency) {
                    continue;
                }
                if let Some(loss) = find_loss(state) {
                    if self.skips.contains_key(&dependency) {
                        return Err(missing("is skipped and whose output is lost"));
                    }
                    let id = &self.graph.step(dependency).id;
                    warnings.push(format!("`{id}` runs again: {loss}"));
                    self.rerun.insert(dependency);
                    todo.push(dependency);
                }
            }
        }
        Ok(())
    }

    fn finish(self, choices: &Choices, warnings: Vec<String>) -> Opening {
        let reason = if choices.resume_from.is_some() {
            OpenReason::ResumeFrom
        } else if self.run.header().is_none() {
            OpenReason::Start
        } else if self.rerun.is_empty() {
            OpenReason::Resume
        } else {
            OpenReason::Rerun
        };
        let runs = self.graph.indices().filter(|step| self.runs(*step)).collect();
        let id = |step: &StepIndex| self.graph.step(*step).id.clone();
        Opening {
            reason,
            rerun: self.rerun.iter().map(id).collect(),
            renamed: self.comparison.renamed,
            skips: self.skips,
            runs,
            warnings,
        }
    }
}

#[cfg(test)]
mod tests;
