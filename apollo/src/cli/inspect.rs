//! `inspect`: all runs, or one.
//!
//! It is not the judgement of a run: that is [`Report`]. Nothing is written, no lock is taken.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::exit::Failure;
use super::find;
use super::output::Screen;
use super::text::{
    Cell, Palette, Style, bytes, count, duration, escaped, first_line, listed, moment, shown_path,
    table,
};
use crate::id::RunId;
use crate::inspect::{Live, Report, Standing, StepReport, Worker};
use crate::log::{ReadError, Tail, UnsealedLog};
use crate::state::Status;
use crate::store::{Liveness, Store};
use crate::time::Timestamp;

/// A run in the list of all.
#[derive(Debug, Serialize)]
struct Listed {
    run: String,
    task_id: String,
    /// `None` when the log is damaged.
    state: Option<Standing>,
    worker: Option<Worker>,
    records: u64,
    last_record: Option<Timestamp>,
    error: Option<String>,
}

/// Prints all runs, newest first.
///
/// # Errors
/// A failure when the directory can't be read.
pub(crate) fn show_all(screen: &Screen, dir: Option<&Path>, json: bool) -> Result<(), Failure> {
    let store = find::store(dir)?;
    let runs = store.runs().map_err(|error| Failure::of_store(&error))?;
    let mut newest = std::collections::BTreeSet::new();
    let all: Vec<_> =
        runs.iter().rev().map(|run| list(&store, run, newest.insert(run.parts().0))).collect();
    if json {
        screen.json(&all);
    } else if all.is_empty() {
        screen.line(&format!("no run in {}", shown_path(store.root())));
    } else {
        let palette = screen.palette();
        screen.lines(&table(&all.iter().map(row).collect::<Vec<_>>(), palette));
    }
    Ok(())
}

/// Prints one run.
///
/// # Errors
/// A failure when there is none, or its log is damaged.
pub(crate) fn show_one(
    screen: &Screen,
    dir: Option<&Path>,
    id: &str,
    program: &str,
    json: bool,
) -> Result<(), Failure> {
    let store = find::store(dir)?;
    let run = find::run(&store, id)?;
    let (task_id, _start) = run.parts();
    let is_newest = store.newest_run(&task_id).ok().flatten().is_none_or(|newest| newest == run);
    let report =
        read(&store, &run, is_newest).map_err(|error| Failure::of_read(&error, program, id))?;
    if json {
        screen.json(&report);
    } else {
        screen.lines(&render(&report, screen.palette()));
    }
    Ok(())
}

fn read(store: &Store, run: &RunId, is_newest: bool) -> Result<Report, ReadError> {
    // Asked first: a process that ends meanwhile has closed its epoch by the time it is read.
    let live = if is_newest { live(store, run) } else { Live::No };
    let path = store.log_path(run);
    let (state, scan) = UnsealedLog::open(store.disk(), &path)?.fold()?;
    let mut report = Report::new(run, path.display().to_string(), &state, live);
    if let Tail::Torn { bytes, .. } = scan.tail {
        report.torn_bytes = bytes;
    }
    Ok(report)
}

/// Whether somebody works on the newest run of a task_id.
pub(crate) fn live(store: &Store, run: &RunId) -> Live {
    match store.holder_of(&run.parts().0) {
        Ok(Liveness::Running(holder)) => Live::Yes(holder.map(|holder| Worker {
            pid: holder.pid,
            host: holder.host,
            since: holder.start,
        })),
        // Where locks can't be asked for, nobody is known to work.
        Ok(Liveness::Free) | Err(_) => Live::No,
    }
}

fn list(store: &Store, run: &RunId, is_newest: bool) -> Listed {
    let mut listed = Listed {
        run: run.to_string(),
        task_id: run.parts().0.to_string(),
        state: None,
        worker: None,
        records: 0,
        last_record: None,
        error: None,
    };
    match read(store, run, is_newest) {
        Ok(report) => {
            listed.state = Some(report.state);
            listed.worker = report.worker;
            listed.records = report.records;
            listed.last_record = report.last_record;
        }
        Err(error) => listed.error = Some(error.to_string()),
    }
    listed
}

fn row(run: &Listed) -> Vec<Cell> {
    let state = run.state.map_or(Cell::new("damaged", Style::Bad), standing);
    let told = match (&run.worker, &run.error) {
        (Some(worker), _) => told(worker),
        (None, Some(error)) => first_line(error),
        (None, None) => String::new(),
    };
    let records = count(usize::try_from(run.records).unwrap_or(usize::MAX), "record");
    vec![
        Cell::plain(&run.task_id),
        state,
        Cell::plain(&run.last_record.map(moment).unwrap_or_default()),
        Cell::plain(&records),
        Cell::new(&run.run, Style::Dim),
        Cell::plain(&told),
    ]
}

fn standing(state: Standing) -> Cell {
    match state {
        Standing::Running => Cell::new("RUNNING", Style::Busy),
        Standing::Interrupted => Cell::new("INTERRUPTED", Style::Warn),
        Standing::Success => Cell::new("SUCCESS", Style::Good),
        Standing::Degraded => Cell::new("DEGRADED", Style::Warn),
        Standing::Failed => Cell::new("FAILED", Style::Bad),
        Standing::Empty => Cell::new("EMPTY", Style::Dim),
    }
}

/// Who works on a run.
pub(crate) fn told(worker: &Worker) -> String {
    let Worker { pid, host, since } = worker;
    format!("process {pid} on {} since {}", escaped(host), moment(*since))
}

fn render(report: &Report, palette: Palette) -> Vec<String> {
    let state = table(&[vec![standing(report.state)]], palette).concat();
    let worker = report.worker.as_ref().map(|worker| format!(", {}", told(worker)));
    let epoch = if report.epoch > 0 { format!(", epoch {}", report.epoch) } else { String::new() };
    let mut lines =
        vec![format!("{} {state}{}{epoch}", report.task_id, worker.unwrap_or_default())];
    let last = report.last_record.map(moment).unwrap_or_else(|| "none".to_owned());
    lines.push(format!("  log: {}", shown_path(Path::new(&report.log))));
    lines.push(format!("  last of {} records: {last}", report.records));
    for (name, value) in &report.params {
        let value = value.as_deref().map_or("(secret)".into(), escaped);
        lines.push(format!("  {} = {value}", escaped(name)));
    }
    lines.extend(table(&report.steps.iter().map(step_row).collect::<Vec<_>>(), palette));
    if !report.next.is_empty() {
        let when = match report.state {
            Standing::Running => "next",
            Standing::Interrupted
            | Standing::Success
            | Standing::Degraded
            | Standing::Failed
            | Standing::Empty => "next, when it is run again",
        };
        lines.push(format!("{when}: {}", listed(report.next.iter().map(|id| id.as_str()))));
    }
    let mark = palette.paint(Style::Warn, "warning");
    lines.extend(report.warnings.iter().map(|text| format!("{mark}: {}", escaped(text))));
    if report.torn_bytes > 0 {
        let torn = bytes(report.torn_bytes);
        lines.push(format!("{mark}: {torn} of an unfinished line follow the last record"));
    }
    lines
}

fn step_row(step: &StepReport) -> Vec<Cell> {
    let took = step.duration_ms.map(|ms| duration(Duration::from_millis(ms)));
    let attempts = match step.attempts {
        0 => String::new(),
        attempts => count(attempts as usize, "attempt"),
    };
    let started = step.started.map(moment).unwrap_or_default();
    let optional = if step.optional { " (optional)" } else { "" };
    vec![
        Cell::plain(&format!("  {}{optional}", step.id)),
        Cell::status(step.status),
        Cell::plain(&attempts),
        Cell::plain(&started),
        Cell::plain(&took.unwrap_or_default()),
        Cell::plain(&why(step)),
    ]
}

/// Why a step is as it is, where there is something to say.
fn why(step: &StepReport) -> String {
    let mut parts = Vec::new();
    if !step.waits_for.is_empty() {
        let each = step.waits_for.iter().map(|(id, status)| format!("`{id}` ({status})"));
        parts.push(format!("waits for {}", each.collect::<Vec<_>>().join(", ")));
    }
    parts.extend(step.cut_off.then(|| "its process died while it ran".to_owned()));
    parts.extend(step.retry_at.map(|at| format!("next attempt at {}", moment(at))));
    parts.extend(step.skipped_by.as_ref().map(|by| format!("skipped: {}", first_line(by))));
    match (&step.error, step.status) {
        (Some(error), Status::Pending | Status::Running) if !step.cut_off => {
            parts.push(format!("before: {}", first_line(error)));
        }
        (Some(error), Status::Failed) => parts.push(first_line(error)),
        (_, Status::Success | Status::Skipped | Status::Pending | Status::Running)
        | (None, Status::Failed) => {}
    }
    if !step.stale.is_empty() {
        let ids = listed(step.stale.iter().map(|id| id.as_str()));
        parts.push(format!("stale: {ids} succeeded later; --resume-from renews it"));
    }
    parts.join("; ")
}
