//! `repair`: a damaged log keeps what is good of it, and a person is told what that costs.
//!
//! It is not the repair: [`repair`] is.

use std::path::Path;

use serde::Serialize;

use super::environment::on_test_disk;
use super::exit::Failure;
use super::find;
use super::output::Screen;
use super::text::{Cell, Palette, Style, bytes, count, escaped, shown_path, status_style, table};
use crate::log::{Damage, LostStep};
use crate::options::RunOptions;
use crate::repair::{Repaired, plan_repair, repair};

/// What was found and done.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    run: &'a str,
    log: String,
    dry_run: bool,
    /// How many good records the log has.
    records: u64,
    /// Whether these say that the run is done.
    done: bool,
    /// What the next run cuts off by itself.
    torn_bytes: u64,
    /// `None` where there is nothing to repair.
    damage: Option<&'a Damage>,
    /// Where the damaged log is kept; `None` where nothing was written.
    kept: Option<String>,
}

/// Repairs a run's log, or says what a repair would do.
///
/// # Errors
/// A failure when there is no such run, somebody works on it, or its disk says no.
pub(crate) fn show(
    screen: &Screen,
    dir: Option<&Path>,
    id: &str,
    program: &str,
    dry_run: bool,
    json: bool,
) -> Result<(), Failure> {
    let store = find::store(dir)?;
    let run = find::run(&store, id)?;
    let options = on_test_disk(RunOptions::new().dir(store.root()))?;
    let act = if dry_run { plan_repair } else { repair };
    let repaired =
        act(&options, run.as_str()).map_err(|error| Failure::of_repair(&error, program))?;
    if json {
        screen.json(&Shown {
            run: repaired.run_id.as_str(),
            log: repaired.log.display().to_string(),
            dry_run,
            records: repaired.records,
            done: repaired.done,
            torn_bytes: repaired.torn_bytes,
            damage: repaired.damage.as_ref(),
            kept: repaired.kept.as_ref().map(|kept| kept.display().to_string()),
        });
    } else {
        screen.lines(&render(&repaired, dry_run, screen.palette()));
    }
    Ok(())
}

fn render(repaired: &Repaired, dry_run: bool, palette: Palette) -> Vec<String> {
    let run = escaped(repaired.run_id.as_str());
    let records = count(usize::try_from(repaired.records).unwrap_or(usize::MAX), "record");
    let Some(damage) = &repaired.damage else {
        let good = palette.paint(Style::Good, "nothing to repair");
        let mut lines = vec![format!("{run}: {good}, {records}")];
        if repaired.torn_bytes > 0 {
            let torn = bytes(repaired.torn_bytes);
            lines.push(format!("  {torn} of a torn tail follow; the next run cuts them off"));
        }
        return lines;
    };
    let what = if dry_run {
        palette.paint(Style::Warn, "would be repaired") + " (dry run: nothing is written)"
    } else {
        palette.paint(Style::Good, "repaired")
    };
    let Damage { line, offset_bytes, reason, .. } = damage;
    let mut lines = vec![
        format!("{run}: {what}"),
        format!("  log      {}", shown_path(&repaired.log)),
        format!("  damaged  at line {line}, byte {offset_bytes}: {}", escaped(reason)),
        format!("  kept     {records} before it"),
        format!("  lost     {}", lost(damage)),
    ];
    lines.extend(table(&damage.steps.iter().map(step_row).collect::<Vec<_>>(), palette));
    if !damage.steps.is_empty() {
        lines.push("  outputs and files of these steps stay until they are made again".to_owned());
    }
    if let Some(kept) = &repaired.kept {
        lines.push(format!("  the damaged log is kept as {}", shown_path(kept)));
    }
    lines.push(next(repaired).to_owned());
    lines
}

/// What stands behind the damage, in one line.
fn lost(damage: &Damage) -> String {
    let records = count(usize::try_from(damage.records).unwrap_or(usize::MAX), "record");
    let readable = match (damage.bytes, damage.records) {
        (0, _) => return "the end of the log, of which nothing is there".to_owned(),
        (_, 0) => "in which no record can be read".to_owned(),
        (_, _) => format!("in which {records} can still be read"),
    };
    let task = damage.task.map(|status| format!("; the task was {status}")).unwrap_or_default();
    format!("{}, {readable}{task}", bytes(damage.bytes))
}

fn step_row(lost: &LostStep) -> Vec<Cell> {
    let of = lost.retry_count.map(|before| format!("of attempt {}", u64::from(before) + 1));
    let then = if lost.runs_again() {
        "runs again".to_owned()
    } else {
        format!("is {} by an earlier record", lost.kept)
    };
    vec![
        Cell::plain(&format!("    {}", lost.step)),
        Cell::new(lost.status.as_str(), status_style(lost.status)),
        Cell::plain(&of.unwrap_or_default()),
        Cell::plain(&then),
    ]
}

/// What comes next.
const fn next(repaired: &Repaired) -> &'static str {
    match (repaired.records, repaired.done) {
        (0, _) => "  no record is good, so the next run begins at the start, under this name",
        (_, true) => {
            "  what is kept says that the run is done; `run --resume-from STEP` does more of it again"
        }
        (_, false) => "  the next run goes on from what is kept",
    }
}
