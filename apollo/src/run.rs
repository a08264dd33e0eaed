//! Running a task: [`Task::run`], what it gives back ([`Summary`]) and how it fails ([`RunError`]).
//!
//! It is not the command line: nothing is printed here and no signal is handled.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::admission::{self, Admission, AdmissionError, Done, Work};
use crate::engine::{Engine, EngineError};
use crate::executor::attempt::Setting;
use crate::id::{RunId, StepId, TaskId};
use crate::observer::Notice;
use crate::options::RunOptions;
use crate::plan::{self, Plan};
use crate::replay::RunState;
use crate::state::Status;
use crate::task::Task;
use crate::time::Timestamp;

/// What came of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Summary {
    /// The logical instance.
    pub task_id: TaskId,
    /// The run.
    pub run_id: RunId,
    /// Its log.
    pub log: PathBuf,
    /// SUCCESS or FAILED.
    pub status: Status,
    /// Each step's state, in the order of declaration.
    pub steps: Vec<(StepId, Status)>,
    /// The optional steps that failed.
    pub degraded: Vec<StepId>,
    /// The epoch, from 0.
    pub epoch: u32,
    /// How many attempts were started in this epoch; 0 when the run was done before.
    pub attempts: u32,
    /// How long this epoch took.
    pub duration: Duration,
    /// Whether the run was done before, so that nothing ran.
    pub already_done: bool,
    /// Whether it was done by another graph than this program's.
    pub graph_differs: bool,
    /// When the last record was made.
    pub ended: Option<Timestamp>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Why a run did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It was not admitted; the log is as it was.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// A required step failed; everything is on record, and the next run tries again.
    #[error("the task failed: {}", failed(summary))]
    Failed {
        /// What came of it.
        summary: Box<Summary>,
    },
    /// It was stopped on request; the next run goes on.
    #[error("the task was stopped; run again to go on")]
    Stopped {
        /// What came of it.
        summary: Box<Summary>,
    },
    /// The log, an output or an artifact could not be written; the next run goes on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The runtime for asynchronous steps could not be started; nothing was run.
    #[error("the runtime for asynchronous steps can't be started")]
    Runtime {
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl Task {
    /// Runs the task, or goes on with the run that it finds.
    ///
    /// Returns when no body runs any longer, also after a failure.
    ///
    /// ```
    /// use apollo::{RunError, RunOptions, Status, StepError, step, task};
    ///
    /// #[step]
    /// fn fetch() -> Result<u64, StepError> {
    ///     Err(StepError::permanent("the source is gone"))
    /// }
    ///
    /// task! { daily { steps: [fetch] } }
    ///
    /// # let dir = std::env::temp_dir().join(format!("apollo-run-{}", std::process::id()));
    /// match daily().run(&RunOptions::new().dir(&dir)) {
    ///     Ok(summary) => println!("{}: {}", summary.task_id, summary.status),
    ///     Err(RunError::Failed { summary }) => assert_eq!(summary.steps[0].1, Status::Failed),
    ///     Err(other) => panic!("nothing is wrong with the disk: {other}"),
    /// }
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`RunError::Admission`]: nothing was run, and the log is as it was. [`RunError::Failed`] and
    /// [`RunError::Stopped`]: all is on record. [`RunError::Engine`]: what was committed is on
    /// record. In every case the same call goes on.
    ///
    /// # Durability
    /// With durability `always`, what the summary says survives a power cut.
    pub fn run(&self, options: &RunOptions) -> Result<Summary, RunError> {
        match admission::admit(self, options)? {
            Admission::Done(done) => {
                tell_warnings(options, &done.warnings);
                Ok(done.summary())
            }
            Admission::Work(work) => self.work(options, *work),
        }
    }

    /// Says what [`Task::run`] would do. Nothing is written and no lock is taken.
    ///
    /// ```
    /// use apollo::{RunOptions, step, task};
    ///
    /// #[step]
    /// fn fetch() {}
    ///
    /// task! { daily { steps: [fetch] } }
    ///
    /// let plan = daily().plan(&RunOptions::new().dir("/nowhere/at/all")).unwrap();
    /// assert!(!plan.done && plan.run.is_none());
    /// assert_eq!(plan.opening.unwrap().runs.len(), 1);
    /// ```
    ///
    /// # Errors
    /// [`AdmissionError`] where [`Task::run`] would refuse.
    pub fn plan(&self, options: &RunOptions) -> Result<Plan, AdmissionError> {
        plan::plan(self, options)
    }

    /// Runs the task without blocking the thread that awaits; the work is done on threads of its
    /// own. Dropping the future asks the run to stop.
    ///
    /// # Errors
    /// As [`Task::run`].
    #[cfg(feature = "async")]
    pub async fn run_async(&self, mut options: RunOptions) -> Result<Summary, RunError> {
        let request = options.cancel.child();
        options.cancel = request.clone();
        let task = self.clone();
        let _stop_when_dropped = StopOnDrop(request);
        match tokio::task::spawn_blocking(move || task.run(&options)).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(payload) => std::panic::resume_unwind(payload),
                Err(error) => {
                    let source = std::io::Error::other(error);
                    Err(RunError::Runtime { source })
                }
            },
        }
    }

    fn work(&self, options: &RunOptions, work: Work) -> Result<Summary, RunError> {
        let Work { store, task_id, run, params, max_parallel, state, log, file, .. } = work;
        let log_path = store.log_path(&run);
        let attempts_before = attempts(&state);
        if let Some(observer) = &options.observer {
            observer.notice(Notice::Log(&log_path));
        }
        tell_warnings(options, &work.warnings);
        let setting = Setting {
            task: self.clone(),
            store: Arc::clone(&store),
            task_id: task_id.clone(),
            run: run.clone(),
            params,
            max_parallel,
            max_interruptions: options.max_interruptions,
            snapshot_every: options.snapshot_every,
            request: options.cancel.clone(),
            cancel: options.cancel.child(),
            observer: options.observer.clone(),
            clock: Arc::clone(&options.clock),
            #[cfg(feature = "async")]
            runtime: self.runtime()?,
        };
        let state = Engine::new(setting, state, log, file, work.forgotten).run(work.opening)?;
        drop(work.lock);
        let mut summary = summary(task_id, run, log_path, &state);
        summary.attempts = attempts(&state).saturating_sub(attempts_before);
        summary.warnings = work.warnings;
        let summary = Box::new(summary);
        if summary.status == Status::Success {
            Ok(*summary)
        } else if options.cancel.is_cancelled() {
            Err(RunError::Stopped { summary })
        } else {
            Err(RunError::Failed { summary })
        }
    }

    #[cfg(feature = "async")]
    fn runtime(&self) -> Result<Option<tokio::runtime::Runtime>, RunError> {
        let is_async = |index| match self.runner(index).body {
            crate::step::Body::Future(_) => true,
            crate::step::Body::Function(_) => false,
        };
        if !self.graph().indices().any(is_async) {
            return Ok(None);
        }
        let runtime = crate::executor::future::runtime();
        runtime.map(Some).map_err(|source| RunError::Runtime { source })
    }
}

#[cfg(feature = "async")]
struct StopOnDrop(crate::cancel::Cancel);

#[cfg(feature = "async")]
impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Done {
    fn summary(self) -> Summary {
        let log = self.store.log_path(&self.run);
        let mut summary = summary(self.task_id, self.run, log, &self.state);
        summary.already_done = true;
        summary.graph_differs = self.graph_differs;
        summary.warnings = self.warnings;
        summary
    }
}

fn summary(task_id: TaskId, run_id: RunId, log: PathBuf, state: &RunState) -> Summary {
    let closing = state.closed();
    Summary {
        task_id,
        run_id,
        log,
        status: if state.is_success() { Status::Success } else { Status::Failed },
        steps: state.steps().iter().map(|step| (step.id.clone(), step.status)).collect(),
        degraded: closing.map(|closing| closing.degraded.clone()).unwrap_or_default(),
        epoch: state.epoch(),
        attempts: 0,
        duration: Duration::from_millis(closing.map_or(0, |closing| closing.duration_ms)),
        already_done: false,
        graph_differs: false,
        ended: state.last(),
        warnings: Vec::new(),
    }
}

fn tell_warnings(options: &RunOptions, warnings: &[String]) {
    if let Some(observer) = &options.observer {
        warnings.iter().for_each(|warning| observer.notice(Notice::Warning(warning)));
    }
}

fn attempts(state: &RunState) -> u32 {
    state.steps().iter().map(|step| step.attempts).sum()
}

fn failed(summary: &Summary) -> String {
    let required = |id: &StepId| !summary.degraded.contains(id);
    let failed = summary.steps.iter();
    let failed = failed.filter(|(id, status)| *status == Status::Failed && required(id));
    let failed: Vec<_> = failed.map(|(id, _status)| format!("`{id}`")).collect();
    match failed.as_slice() {
        [] => "it has unfinished steps".to_owned(),
        [one] => format!("step {one}"),
        many => format!("steps {}", many.join(", ")),
    }
}
