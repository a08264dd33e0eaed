//! From what a person calls a run to the run: a task_id, whose newest run is meant, or a run id.
//!
//! It is not the reading of its log.

use std::path::Path;
use std::sync::Arc;

use super::exit::{Failure, USAGE};
use super::text::{escaped, listed};
use crate::disk::{Disk, RealDisk};
use crate::id::{RunId, TaskId};
use crate::store::Store;
use crate::suggest::near;

/// How many other names are offered.
const OFFERED: usize = 5;

/// Opens the directory to read in it.
///
/// # Errors
/// A failure where there is none.
pub(crate) fn store(dir: Option<&Path>) -> Result<Store, Failure> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = Store::locate(dir, &cwd, &*disk);
    Store::open(disk, &root).map_err(|error| Failure::of_store(&error))
}

/// Finds a run.
///
/// # Errors
/// A failure that offers the names that are near.
pub(crate) fn run(store: &Store, id: &str) -> Result<RunId, Failure> {
    let failure = |error| Failure::of_store(&error);
    if let Some(run) = store.find(id).map_err(failure)? {
        return Ok(run);
    }
    let runs = store.runs().map_err(failure)?;
    let mut known: Vec<TaskId> = Vec::new();
    for run in runs.iter().rev() {
        let task_id = run.parts().0;
        if !known.contains(&task_id) {
            known.push(task_id);
        }
    }
    let failure = Failure::new(USAGE, format!("no run is called `{}`", escaped(id)));
    Err(match offers(id, &known) {
        offers if !offers.is_empty() => {
            failure.hint(format!("there are runs with a similar name: {}", listed(offers)))
        }
        _ if known.is_empty() => failure.hint("nothing was run in this directory yet"),
        _ => failure.hint(format!(
            "the newest are {}",
            listed(known.iter().take(OFFERED).map(TaskId::as_str))
        )),
    })
}

/// The names that could have been meant: near ones, else those that hold the text.
fn offers<'a>(id: &str, known: &'a [TaskId]) -> Vec<&'a str> {
    let names = || known.iter().map(TaskId::as_str);
    let close: Vec<_> = names().filter(|name| near(id, name).is_some()).take(OFFERED).collect();
    if close.is_empty() {
        names().filter(|name| name.contains(id)).take(OFFERED).collect()
    } else {
        close
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, expected: &[&str]) {
        let known =
            ["daily-2010-07-04", "daily-2010-07-05", "weekly"].map(|id| TaskId::parse(id).unwrap());
        assert_eq!(offers(id, &known), expected, "{id}");
    }

    #[test]
    fn near_names_are_offered() {
        check("weekyl", &["weekly"]);
        check("daily", &["daily-2010-07-04", "daily-2010-07-05"]);
        check("nothing", &[]);
    }
}
