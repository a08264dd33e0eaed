//! Older runs of a task that nobody has finished, for the last lines of `run`.
//!
//! It is not `inspect`: only the ends of the newest logs are read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::output::Screen;
use super::text::{Style, count, escaped};
use crate::id::{RunId, TaskId};
use crate::log::Ends;
use crate::record::{Event, Record};
use crate::store::{Liveness, Store};
use crate::task::Task;

/// How many logs are looked at, the newest ones.
const LOOKED_AT: usize = 50;

/// How many runs are named.
const NAMED: usize = 5;

/// Names runs of other instances of the task that are not done, and that nobody works on.
///
/// What can't be read is left out: this is a courtesy, and the run is over.
pub(crate) fn tell(screen: &Screen, root: &Path, task: &Task, except: &TaskId, program: &str) {
    let disk = Arc::new(crate::disk::RealDisk);
    let Ok(store) = Store::open(disk, root) else { return };
    let found = find(&store, task, except);
    if found.is_empty() {
        return;
    }
    let (task, number) = (task.name(), count(found.len(), "older run"));
    let first = format!("{number} of `{task}` not finished (`{program} inspect` shows all)");
    let mut lines = vec![first];
    for (run, last) in found.iter().rev().take(NAMED) {
        let (task_id, _start) = run.parts();
        lines.push(format!("{}: last record {last}", escaped(task_id.as_str())));
    }
    screen.note(Style::Warn, "unfinished", &lines.join("\n"));
}

/// The newest runs of other task_ids, oldest first, with the time of the last record.
fn find(store: &Store, task: &Task, except: &TaskId) -> Vec<(RunId, String)> {
    let runs = store.runs().unwrap_or_default();
    let mut seen = BTreeSet::from([except.clone()]);
    let newest = runs.into_iter().rev().take(LOOKED_AT);
    let mut found: Vec<_> = newest
        .filter(|run| seen.insert(run.parts().0))
        .filter_map(|run| {
            let ends = Ends::read(&**store.disk(), &store.log_path(&run)).ok()?;
            let last = ends.last.filter(|last| !is_success(last))?;
            let is_task = matches!(
                ends.first.map(|first| first.event),
                Some(Event::EpochOpened(header)) if header.task == *task.name()
            );
            let is_free = matches!(store.holder_of(&run.parts().0), Ok(Liveness::Free));
            (is_task && is_free).then(|| (run, super::text::moment(last.timestamp)))
        })
        .collect();
    found.reverse();
    found
}

fn is_success(last: &Record) -> bool {
    matches!(&last.event, Event::EpochClosed(closing) if closing.success)
}
