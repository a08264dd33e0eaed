//! [`Trial`]: a task that is run once, killed where that is wanted, and finished.
//!
//! It is not the judgement of what it leaves: that is `everywhere`'s.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::left::escaped;
use super::mortal::{Death, Mortal};
use super::not_crash_safe::NotCrashSafe;
use super::story::Story;
use crate::disk::{HookDisk, RealDisk};
use crate::failure::StepError;
use crate::options::RunOptions;
use crate::run::{RunError, Summary};
use crate::state::Status;
use crate::task::Task;

/// A task that was run once, killed where that was wanted, and finished.
#[derive(Debug)]
pub(super) struct Trial {
    dir: PathBuf,
    /// How many operations there were, up to the death.
    pub(super) operations: u64,
    /// How it died, if it did.
    pub(super) death: Option<Death>,
    result: Result<Summary, RunError>,
}

impl Trial {
    /// Runs a task in an empty directory, kills it before an operation, cuts its last commit to so
    /// many bytes, and runs it again.
    ///
    /// # Errors
    /// What the disk says, with the file, when it was not the run that asked.
    pub(super) fn run(
        task: &Task,
        dir: &Path,
        mut options: RunOptions,
        dies_at: Option<u64>,
        kept_bytes: Option<u64>,
    ) -> Result<Self, (PathBuf, io::Error)> {
        // The second run is to find the first one.
        options.fresh = false;
        // One death is no reason to give a step up.
        options.max_interruptions = options.max_interruptions.max(2);
        options.max_parallel.get_or_insert(1);
        let observer = options.observer.take();
        let live = |dies_at, options: &RunOptions| {
            let mortal = Arc::new(Mortal::new(dir, dies_at, observer.clone()));
            let disk = HookDisk::new(Arc::new(RealDisk), mortal.clone());
            let options = options.clone().disk(Arc::new(disk)).observer(mortal.clone());
            (catch_unwind(AssertUnwindSafe(|| task.run(&options.dir(dir)))), mortal)
        };

        let (mut ended, mortal) = live(dies_at, &options);
        let mut death = mortal.death();
        if let Some(Death { point, appended }) = &mut death {
            if let (Some(commit), Some(kept_bytes)) = (appended, kept_bytes) {
                *point = commit.cut(kept_bytes)?;
            }
            options.choices.resume_from = None;
            ended = live(None, &options).0;
        }
        let result = ended.unwrap_or_else(|panic| resume_unwind(panic));
        Ok(Self { dir: dir.to_owned(), operations: mortal.operations(), death, result })
    }

    /// What came of it in the end.
    ///
    /// # Errors
    /// [`NotCrashSafe::Undisturbed`] or [`NotCrashSafe::NotResumed`] when it did not succeed.
    pub(super) fn summary(&self) -> Result<&Summary, NotCrashSafe> {
        let error = match &self.result {
            Ok(summary) => return Ok(summary),
            Err(error) => error,
        };
        let failure = if let RunError::Failed { summary } = error {
            failed_steps(summary)?
        } else {
            StepError::from_error(error).message().to_owned()
        };
        let dir = self.dir.clone();
        Err(match &self.death {
            None => NotCrashSafe::Undisturbed { failure, dir },
            Some(death) => NotCrashSafe::NotResumed { failure, point: death.point.clone(), dir },
        })
    }

    /// What its log tells of its steps.
    ///
    /// # Errors
    /// As [`Self::summary`]; [`NotCrashSafe::Log`] when the log can't be read.
    pub(super) fn story(&self) -> Result<Story, NotCrashSafe> {
        read(self.summary()?)
    }
}

/// Each step that failed the task, and what it said.
fn failed_steps(summary: &Summary) -> Result<String, NotCrashSafe> {
    let story = read(summary)?;
    let mut told = Vec::new();
    for (step, status) in &summary.steps {
        if *status == Status::Failed && !summary.degraded.contains(step) {
            let error = story.error(step).unwrap_or_default();
            told.push(format!("step `{step}`: {}", escaped(error)));
        }
    }
    Ok(told.join("; "))
}

fn read(summary: &Summary) -> Result<Story, NotCrashSafe> {
    Story::read(&summary.log).map_err(|source| NotCrashSafe::Log { source })
}
