//! [`NotCrashSafe`]: why a task is not safe from crashes, told so that it can be mended.
//!
//! It is not the judgement: `everywhere` makes it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::left::Difference;
use super::point::KillPoint;
use crate::failure::StepError;
use crate::id::StepId;
use crate::log::ReadError;

/// What makes doing something again harmless.
const CURES: &str = "\
help: a file: `ctx.artifact(name)` writes it whole, in place of what is there
help: rows elsewhere: `ctx.replace_tagged(delete, write)` deletes what an attempt before wrote
help: an effect that can't be taken back: `ctx.once(key, effect)`, with a `probe`
help: anything: `cleanup = ...` takes away what an attempt before left, if it left something";

/// What makes a step the same each time.
const SOURCES: &str = "\
help: `setup` makes the world outside new before each run
help: chance, time and what others write are brought in once, by a parameter or an early step";

/// Why a task is not safe from crashes, or why that can't be told. A directory in it is kept: the
/// run there is the one that went wrong.
///
/// Its debug form is its text, so that `unwrap` in a test shows it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NotCrashSafe {
    /// It fails without a crash.
    #[error("the task fails without any crash: {failure}\n  kept: {}", dir.display())]
    Undisturbed {
        /// How.
        failure: String,
        /// Where.
        dir: PathBuf,
    },
    /// It leaves something else although nothing was done again.
    #[error("{}", not_deterministic(point.as_ref(), difference, dir))]
    NotDeterministic {
        /// Where it was killed; `None` when it was not.
        point: Option<KillPoint>,
        /// What differs.
        difference: Box<Difference>,
        /// Where.
        dir: PathBuf,
    },
    /// A step that was done again left something else.
    #[error(
        "{} not idempotent: killed and done again, it leaves something else\n  killed: {point}\n  \
         differs: {difference}\n  kept: {}\n{}{CURES}",
        blamed(steps), dir.display(), hint_of_once(point, *probed)
    )]
    NotIdempotent {
        /// The step; several where each of them was done again and may have left it.
        steps: Vec<StepId>,
        /// Where it was killed.
        point: KillPoint,
        /// What differs.
        difference: Box<Difference>,
        /// Whether it has a probe.
        probed: bool,
        /// Where.
        dir: PathBuf,
    },
    /// A run does not come to its end after a crash.
    #[error(
        "the task does not finish after a crash: {failure}\n  killed: {point}\n  kept: {}\n{}",
        dir.display(), hint_of_failure(failure)
    )]
    NotResumed {
        /// How it failed.
        failure: String,
        /// Where it was killed.
        point: KillPoint,
        /// Where.
        dir: PathBuf,
    },
    /// A step ran again although its success was on record.
    #[error(
        "step `{step}` ran again although its SUCCESS was on record\n  killed: {point}\n  \
         kept: {}\nhelp: this is a defect of apollo; please report it, with the log",
        dir.display()
    )]
    RanAgain {
        /// The step.
        step: StepId,
        /// Where it was killed.
        point: KillPoint,
        /// Where.
        dir: PathBuf,
    },
    /// A file of a run could not be read or written.
    #[error("can't use `{}`", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// The log of a run can't be read.
    #[error("the log of a run can't be read")]
    Log {
        /// Why.
        #[source]
        source: ReadError,
    },
}

impl fmt::Debug for NotCrashSafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(StepError::from_error(self).message())
    }
}

fn blamed(steps: &[StepId]) -> String {
    match steps {
        [step] => format!("step `{step}` is"),
        _ => {
            let steps: Vec<_> = steps.iter().map(|step| format!("`{step}`")).collect();
            format!("one of the steps {} is", steps.join(", "))
        }
    }
}

fn not_deterministic(point: Option<&KillPoint>, difference: &Difference, dir: &Path) -> String {
    let who = difference.step().map_or("the task".to_owned(), |step| format!("step `{step}`"));
    let killed = point.map(|point| format!("\n  killed: {point}")).unwrap_or_default();
    format!(
        "{who} is not deterministic: done once each time, it leaves something else{killed}\n  \
         differs: {difference}\n  kept: {}\n{SOURCES}",
        dir.display()
    )
}

fn hint_of_once(point: &KillPoint, probed: bool) -> &'static str {
    match (point.is_in_once(), probed) {
        (true, false) => {
            "help: nobody knew whether the effect had happened: a `probe` answers that, or the \
             step says `on_unknown = skip`\n"
        }
        (true, true) => {
            "help: nobody knew whether the effect had happened: see what the `probe` answers\n"
        }
        (false, _) => "",
    }
}

fn hint_of_failure(failure: &str) -> &'static str {
    if failure.contains("cleanup failed") {
        "help: a cleanup may find nothing, or the half of it, and succeeds then as well"
    } else if failure.contains("PoisonError") {
        "help: a mutex that a body holds while it calls its context is poisoned by the kill: hold \
         it shorter"
    } else if failure.contains("nobody knows whether the effect") {
        "help: a `probe` answers whether the effect of `ctx.once` happened"
    } else {
        "help: `cleanup = ...` takes away what an attempt before left, if it left something"
    }
}
