//! `run --dry-run`: what a run would do, and why; nothing is written.
//!
//! It is not the decision: [`Task::plan`] makes the one that a run makes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exit::Failure;
use super::output::Screen;
use super::text::{Cell, Palette, Style, count, duration, escaped, first_line, table};
use crate::graph::GraphStep;
use crate::id::{StepId, StepIndex};
use crate::opening::Opening;
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::policy::{Backoff, Need};
use crate::record::FailReason;
use crate::replay::StepState;
use crate::state::Status;
use crate::task::Task;
use crate::verdict::{Comparison, Verdict};

/// What a run would do.
#[derive(Debug, Serialize)]
struct DryRun {
    task: String,
    task_id: String,
    /// The run that would go on.
    run: Option<String>,
    done: bool,
    params: BTreeMap<String, Option<String>>,
    warnings: Vec<String>,
    /// In the order in which they could run one after the other.
    steps: Vec<PlannedStep>,
}

/// What would happen to a step.
#[derive(Debug, Serialize)]
struct PlannedStep {
    id: String,
    action: Action,
    why: String,
    after: Vec<String>,
    optional: bool,
    cleanup: bool,
    notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Run,
    Keep,
    Skip,
}

/// Prints the plan.
///
/// # Errors
/// Where the run would be refused.
pub(crate) fn show(
    screen: &Screen,
    task: &Task,
    options: &RunOptions,
    program: &str,
    json: bool,
) -> Result<(), Failure> {
    let plan = task.plan(options).map_err(|error| Failure::of_admission(&error, program))?;
    let dry_run = describe(task, options, &plan);
    if json {
        screen.json(&dry_run);
    } else {
        screen.lines(&render(task, &dry_run, screen.palette()));
    }
    Ok(())
}

fn describe(task: &Task, options: &RunOptions, plan: &Plan) -> DryRun {
    let reasons =
        Reasons { task, options, plan, comparison: Comparison::new(task.graph(), &plan.state) };
    let opening = plan.opening.as_ref();
    DryRun {
        task: task.name().to_string(),
        task_id: plan.task_id.to_string(),
        run: plan.run.as_ref().map(ToString::to_string),
        done: plan.done,
        params: plan.params.clone(),
        warnings: opening.map(|opening| opening.warnings.clone()).unwrap_or_default(),
        steps: task.graph().topological().iter().map(|step| reasons.step(*step)).collect(),
    }
}

struct Reasons<'a> {
    task: &'a Task,
    options: &'a RunOptions,
    plan: &'a Plan,
    comparison: Comparison,
}

impl Reasons<'_> {
    fn step(&self, index: StepIndex) -> PlannedStep {
        let graph = self.task.graph();
        let step = graph.step(index);
        let state = self.comparison.state(&self.plan.state, &step.id);
        let (action, why) = self.judge(index, step, state);
        let after = step.depends_on.iter().map(|on| graph.step(*on).id.to_string());
        let has_cleanup = self.task.runner(index).cleanup.is_some();
        PlannedStep {
            id: step.id.to_string(),
            action,
            why,
            after: after.collect(),
            optional: step.need == Need::Optional,
            cleanup: action == Action::Run
                && has_cleanup
                && state.is_some_and(|state| state.attempts > 0),
            notes: notes(step),
        }
    }

    fn judge(
        &self,
        index: StepIndex,
        step: &GraphStep,
        state: Option<&StepState>,
    ) -> (Action, String) {
        let Some(opening) = &self.plan.opening else { return (Action::Keep, finished(state)) };
        if let Some(reason) = opening.skips.get(&index) {
            return (Action::Skip, first_line(reason));
        }
        if !opening.runs.contains(&index) {
            return (Action::Keep, finished(state));
        }
        if opening.rerun.contains(&step.id) {
            return (Action::Run, self.why_again(index, &step.id, opening));
        }
        (Action::Run, self.why_unfinished(step, state))
    }

    /// Why a finished step runs again.
    fn why_again(&self, index: StepIndex, id: &StepId, opening: &Opening) -> String {
        let graph = self.task.graph();
        if let Some(from) = &self.options.choices.resume_from {
            if from == id {
                return "named by --resume-from".to_owned();
            }
            let from_index = graph.index_of(from.as_str());
            if from_index.is_some_and(|from| graph.descendants(from).contains(&index)) {
                return format!("depends on `{from}`, which runs again");
            }
        }
        if self.comparison.risen.contains(&index) {
            return "its version rose".to_owned();
        }
        let mut risen = self.comparison.risen.iter();
        if let Some(risen) = risen.find(|risen| graph.descendants(**risen).contains(&index)) {
            return format!("depends on `{}`, whose version rose", graph.step(*risen).id);
        }
        let start = format!("`{id}` runs again: ");
        let loss = opening.warnings.iter().find_map(|warning| warning.strip_prefix(&start));
        loss.map_or_else(|| "its output is lost".to_owned(), first_line)
    }

    fn why_unfinished(&self, step: &GraphStep, state: Option<&StepState>) -> String {
        let Some(state) = state.filter(|state| state.attempts > 0) else {
            return "never ran".to_owned();
        };
        let verdict = self.comparison.verdicts.iter().find(|verdict| verdict.id == step.id);
        let changed = verdict.is_some_and(|verdict| verdict.verdict == Verdict::Changed);
        let changed = if changed { "; its definition changed" } else { "" };
        let why = match (&state.open, &state.retry, state.reason) {
            (Some(_), _, _) | (None, _, Some(FailReason::Interrupted)) => {
                "its process died while it ran".to_owned()
            }
            (None, _, Some(FailReason::Interruptions)) => "its process died too often".to_owned(),
            (None, _, Some(FailReason::Stopped)) => "was stopped".to_owned(),
            (None, Some(_), None) => "was waiting for its next attempt".to_owned(),
            (None, None, None) => {
                format!("failed: {}", first_line(state.error.as_deref().unwrap_or("unknown")))
            }
        };
        format!("{why}{changed}")
    }
}

fn finished(state: Option<&StepState>) -> String {
    match state.map(|state| (state.status, state.skipped.as_deref())) {
        Some((Status::Skipped, Some(by))) => format!("skipped before: {}", first_line(by)),
        Some((Status::Failed, _)) => "failed, and is optional".to_owned(),
        _ => "finished".to_owned(),
    }
}

/// How a step is treated, where it is not as usual.
fn notes(step: &GraphStep) -> Vec<String> {
    let mut notes = Vec::new();
    match step.retry.policy {
        Backoff::None => {}
        Backoff::Fixed | Backoff::Exponential => {
            let growing = step.retry.policy == Backoff::Exponential;
            let up = if growing { ", doubling" } else { "" };
            let wait = duration(std::time::Duration::from_millis(step.retry.delay_ms));
            let retries = step.retry.max_retries;
            let word = if retries == 1 { "retry" } else { "retries" };
            notes.push(format!("{retries} {word} after {wait}{up}"));
        }
    }
    notes.extend(step.timeout.map(|timeout| format!("timeout {}", duration(timeout))));
    notes
}

fn render(task: &Task, dry_run: &DryRun, palette: Palette) -> Vec<String> {
    let what = match (&dry_run.run, dry_run.done) {
        (Some(run), true) => format!("{run} is done; `--new` would start a fresh run"),
        (Some(run), false) => format!("{run} would go on"),
        (None, _) => "a new run would begin".to_owned(),
    };
    let mut lines = vec![format!("{}: {what} (dry run: nothing is written)", dry_run.task_id)];
    for (name, value) in &dry_run.params {
        let value = match value {
            Some(value) => escaped(value).into_owned(),
            None if task.is_secret(name) => "(secret)".to_owned(),
            None => "(none)".to_owned(),
        };
        lines.push(format!("  {name} = {value}"));
    }
    let rows: Vec<Vec<Cell>> = (1..).zip(&dry_run.steps).map(|(n, step)| row(n, step)).collect();
    lines.extend(table(&rows, palette));
    let mark = palette.paint(Style::Warn, "warning");
    lines.extend(dry_run.warnings.iter().map(|text| format!("{mark}: {}", escaped(text))));
    let number = |action| dry_run.steps.iter().filter(|step| step.action == action).count();
    lines.push(format!(
        "{} would run, {} kept, {} skipped",
        count(number(Action::Run), "step"),
        number(Action::Keep),
        number(Action::Skip)
    ));
    lines
}

fn row(number: usize, step: &PlannedStep) -> Vec<Cell> {
    let (word, style) = match step.action {
        Action::Run => ("run", Style::Busy),
        Action::Keep => ("keep", Style::Dim),
        Action::Skip => ("skip", Style::Warn),
    };
    let mut notes = Vec::new();
    if step.action == Action::Run {
        notes.extend(step.optional.then(|| "optional".to_owned()));
        notes.extend(step.cleanup.then(|| "cleanup first".to_owned()));
        notes.extend(step.notes.clone());
    }
    vec![
        Cell::plain(&format!("{number:>4}")),
        Cell::new(word, style),
        Cell::plain(&step.id),
        Cell::plain(&step.why),
        Cell::new(&notes.join(", "), Style::Dim),
    ]
}

#[cfg(test)]
mod tests;
