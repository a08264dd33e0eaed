//! `run`: a task is run, or gone on with, while a person watches.
//!
//! It is not the run: [`Task::run`](crate::task::Task::run) is. Here it gets its observer, its
//! signals and its last lines.

use std::path::Path;
use std::sync::Arc;

use super::args::RunRequest;
use super::environment::on_test_disk;
use super::exit::{Failure, STORAGE};
use super::narrator::{Narrator, Recorder};
use super::output::Screen;
use super::signals::Listener;
use super::text::{
    Palette, Style, duration, listed, moment, shown_path, status_style, time_of_day,
};
use super::{plan, unfinished};
use crate::cancel::Cancel;
use crate::run::{RunError, Summary};
use crate::state::Status;

/// Runs a task.
///
/// # Errors
/// Whatever is no success.
pub(crate) fn run(
    screen: &Arc<Screen>,
    request: RunRequest,
    program: &str,
    json: bool,
) -> Result<(), Failure> {
    let RunRequest { task, options, dry_run, quiet } = request;
    let mut options = on_test_disk(options)?;
    if dry_run {
        return plan::show(screen, &task, &options, program, json);
    }
    let cancel = Cancel::new();
    options = options.cancel(cancel.clone());
    if json {
        options = options.observer(Arc::new(Recorder { screen: Arc::clone(screen) }));
    } else if !quiet {
        options = options.observer(Arc::new(Narrator::new(Arc::clone(screen), task.graph())));
    }
    let listener = Listener::start(cancel, Arc::clone(screen))
        .map_err(|error| Failure::new(STORAGE, format!("can't listen for signals: {error}")))?;
    let result = task.run(&options);
    let signal = listener.code();
    drop(listener);
    if let Some(summary) = summary_of(&result).filter(|_| !json && !quiet) {
        screen.lines(&last_lines(summary, screen.palette()));
        if let Some(root) = summary.log.parent().and_then(Path::parent) {
            unfinished::tell(screen, root, &task, &summary.task_id, program);
        }
    }
    let summary = result.map_err(|error| Failure::of_run(&error, program, signal))?;
    if json && summary.already_done {
        let text = format!("nothing was run; the log is `{}`", summary.log.display());
        screen.note(Style::Good, "done", &text);
    }
    if !summary.degraded.is_empty() {
        let failed = listed(summary.degraded.iter().map(|id| id.as_str()));
        screen.note(Style::Warn, "degraded", &format!("done without optional steps: {failed}"));
    }
    Ok(())
}

const fn summary_of(result: &Result<Summary, RunError>) -> Option<&Summary> {
    match result {
        Ok(summary) => Some(summary),
        Err(RunError::Failed { summary } | RunError::Stopped { summary }) => Some(summary),
        Err(RunError::Admission(_) | RunError::Engine(_) | RunError::Runtime { .. }) => None,
    }
}

/// How it ended, where the log is, and how to run again what is done.
fn last_lines(summary: &Summary, palette: Palette) -> Vec<String> {
    let log = shown_path(&summary.log);
    let word = palette.paint(status_style(summary.status), summary.status.as_str());
    if summary.already_done {
        let when = summary.ended.map(|ended| format!(" since {}", moment(ended)));
        let mut lines = vec![
            format!("{} is done{}: {word}", summary.task_id, when.unwrap_or_default()),
            format!("  log: {log}"),
            "  nothing was run; `--new` starts a fresh run".to_owned(),
        ];
        if summary.graph_differs {
            lines.push("  this program's graph differs from the one that did it".to_owned());
        }
        return lines;
    }
    let time = summary.ended.map(time_of_day).unwrap_or_default();
    let time = palette.paint(Style::Dim, &time);
    let (took, counts) = (duration(summary.duration), counts(summary));
    let mut lines = vec![format!("{time} {} {word} in {took}: {counts}", summary.task_id)];
    if summary.attempts == 0 {
        lines.push("  no step was run: each was finished before, or left out".to_owned());
    }
    lines.push(format!("  log: {log}"));
    lines
}

fn counts(summary: &Summary) -> String {
    let number = |of: Status| summary.steps.iter().filter(|(_id, status)| *status == of).count();
    let all = summary.steps.len();
    let mut parts = vec![format!("{} of {all} steps done", number(Status::Success))];
    let others = [
        (Status::Skipped, "skipped"),
        (Status::Failed, "failed"),
        (Status::Running, "running"),
        (Status::Pending, "pending"),
    ];
    let others = others.map(|(status, word)| (number(status), word));
    parts.extend(
        others
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{number} {word}")),
    );
    parts.join(", ")
}

#[cfg(test)]
mod tests;
