//! [`RunOptions`]: how a task is run.
//!
//! It is not what a task is: retry, order and parameters are declared with the task.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::clock::{Clock, SystemClock};
use crate::disk::{Disk, RealDisk};
use crate::id::{NameError, StepId, TaskId};
use crate::observer::Observer;
use crate::opening::Choices;

/// How many deaths of the process in a row a step may be open in, unless told otherwise.
const MAX_INTERRUPTIONS: u32 = 5;

/// After how many records a snapshot is written, unless told otherwise.
const SNAPSHOT_EVERY: u64 = 10_000;

/// How a task is run.
///
/// ```
/// let options = apollo::RunOptions::new().dir("/tmp/apollo-doc").param("task_date", "2010-07-04");
/// assert!(!format!("{options:?}").contains("2010-07-04"), "a parameter may be a secret");
/// ```
#[derive(Debug, Clone)]
#[must_use = "options do nothing until a task is run with them"]
pub struct RunOptions {
    pub(crate) dir: Option<PathBuf>,
    pub(crate) task_id: Option<TaskId>,
    pub(crate) params: crate::params::Params,
    pub(crate) fresh: bool,
    pub(crate) choices: Choices,
    pub(crate) max_parallel: Option<u32>,
    pub(crate) max_interruptions: u32,
    pub(crate) snapshot_every: u64,
    pub(crate) cancel: Cancel,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            dir: None,
            task_id: None,
            params: crate::params::Params::default(),
            fresh: false,
            choices: Choices::default(),
            max_parallel: None,
            max_interruptions: MAX_INTERRUPTIONS,
            snapshot_every: SNAPSHOT_EVERY,
            cancel: Cancel::new(),
            observer: None,
            disk: Arc::new(RealDisk),
            clock: Arc::new(SystemClock::default()),
        }
    }
}

impl RunOptions {
    /// Runs in the nearest `.apollo` upward from the working directory, with default parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps logs and outputs in this directory.
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets a parameter, as text; it is parsed before anything runs.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.set(name, value);
        self
    }

    /// Names the logical instance, instead of the task's name and its parameters' values.
    ///
    /// ```
    /// assert!(apollo::RunOptions::new().task_id("nightly-7").is_ok());
    /// assert!(apollo::RunOptions::new().task_id("../nightly").is_err());
    /// ```
    ///
    /// # Errors
    /// [`NameError`] when it is not `[A-Za-z0-9._-]{1,128}` or starts with a dot.
    pub fn task_id(mut self, task_id: &str) -> Result<Self, NameError> {
        self.task_id = Some(TaskId::parse(task_id)?);
        Ok(self)
    }

    /// Starts a fresh run, whatever became of the ones before.
    pub const fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Runs this step and its descendants again; its unfinished ancestors are skipped.
    ///
    /// ```
    /// # fn main() -> Result<(), apollo::NameError> {
    /// let options = apollo::RunOptions::new().resume_from("transform")?.skip("notify")?;
    /// # drop(options);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NameError`] when it can't be a step id.
    pub fn resume_from(mut self, step: &str) -> Result<Self, NameError> {
        self.choices.resume_from = Some(StepId::parse(step)?);
        Ok(self)
    }

    /// Leaves a step out, on record.
    ///
    /// # Errors
    /// [`NameError`] when it can't be a step id.
    pub fn skip(mut self, step: &str) -> Result<Self, NameError> {
        self.choices.skip.push(StepId::parse(step)?);
        Ok(self)
    }

    /// Goes on although the definition of a finished step changed or an unfinished one vanished.
    pub const fn accept_changes(mut self) -> Self {
        self.choices.accept_changes = true;
        self
    }

    /// Runs at most so many steps at once.
    pub const fn max_parallel(mut self, steps: u32) -> Self {
        self.max_parallel = Some(steps);
        self
    }

    /// Gives a step up that was open in so many deaths of its process in a row.
    pub const fn max_interruptions(mut self, deaths: u32) -> Self {
        self.max_interruptions = deaths;
        self
    }

    /// Writes a snapshot of the run after so many records, beside the log, instead of after 10,000.
    ///
    /// For tests, and for very long runs. A resume reads only what the log has behind its snapshot;
    /// what it finds is the same without one.
    pub const fn snapshot_every(mut self, records: u64) -> Self {
        self.snapshot_every = records;
        self
    }

    /// Lets this request stop the run.
    ///
    /// ```
    /// use apollo::{Cancel, RunOptions};
    ///
    /// let stop = Cancel::new();
    /// let options = RunOptions::new().cancel(stop.clone());
    /// std::thread::spawn(move || stop.cancel()); // from wherever the wish to stop comes
    /// ```
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Tells this observer what happens.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Works on this disk instead of the machine's.
    pub fn disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Lives by this clock instead of the machine's.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}
