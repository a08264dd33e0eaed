//! [`Setting`] and [`Start`]: one attempt, from its committed STEP_START to what came of it.
//!
//! It is not the record of it: an [`Outcome`] is a value, and the engine writes it down.
//!
//! **Invariant:** nothing here touches the log; an output or an artifact is durable before the
//! outcome says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::function;
use super::workspace::{AttemptWorkspace, Traces};
use crate::cancel::Cancel;
use crate::clock::Clock;
use crate::context::{AttemptInfo, Context, Inputs};
use crate::digest::Digest;
use crate::failure::StepError;
use crate::id::{RunId, StepId, StepIndex, TaskId};
use crate::observer::Observer;
use crate::output::Output;
use crate::params::Params;
use crate::record::{ArtifactEntry, Attempt};
use crate::step::Body;
use crate::store::{Store, StoreError};
use crate::task::Task;

/// What an epoch works with; everything here stays as it is while the epoch lasts.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) task: Task,
    pub(crate) store: Arc<Store>,
    pub(crate) task_id: TaskId,
    pub(crate) run: RunId,
    pub(crate) params: Params,
    pub(crate) max_parallel: u32,
    pub(crate) max_interruptions: u32,
    pub(crate) snapshot_every: u64,
    /// The caller's request to stop.
    pub(crate) request: Cancel,
    /// Its child: also made when the epoch fails.
    pub(crate) cancel: Cancel,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) clock: Arc<dyn Clock>,
    #[cfg(feature = "async")]
    pub(crate) runtime: Option<tokio::runtime::Runtime>,
}

/// An attempt to be run.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) index: StepIndex,
    pub(crate) attempt: Attempt,
    pub(crate) info: AttemptInfo,
    /// Whether another attempt may have left something half done.
    pub(crate) follows: bool,
    /// What each dependency left, indexed like `depends_on`: where it is stored, and its digest.
    pub(crate) sources: Vec<(StepId, Option<Digest>)>,
}

/// What came of an attempt.
pub(crate) enum Outcome {
    Done { output: Output, artifacts: BTreeMap<String, ArtifactEntry> },
    Failed(StepError),
    Stopped(StepError),
    Broken(StoreError),
}

impl Setting {
    /// Runs one attempt to its end; nothing here touches the log.
    pub(crate) fn execute(&self, start: &Start) -> Outcome {
        if self.cancel.is_cancelled() {
            return Outcome::Stopped(StepError::new("stopped before its body began"));
        }
        let (run, step, retry_count) = (&self.run, &start.info.step_id, start.info.retry_count);
        let traces = Arc::new(Traces::default());
        let workspace = AttemptWorkspace {
            store: Arc::clone(&self.store),
            run: run.clone(),
            step: step.clone(),
            retry_count,
            cancel: self.cancel.clone(),
            observer: self.observer.clone(),
            traces: Arc::clone(&traces),
        };
        if start.follows
            && let Err(failure) = self.store.discard_staging(run, step)
        {
            return Outcome::Broken(failure);
        }
        let context = Context::new(start.info.clone(), self.params.clone(), Box::new(workspace));
        let returned = self.body(start, &context);
        if let Some(broken) = traces.take_broken() {
            return Outcome::Broken(broken);
        }
        let output = match returned {
            Ok(_) if traces.saw_cancel() => {
                return Outcome::Stopped(StepError::new("stopped: the run is being stopped"));
            }
            Ok(output) => output,
            Err(error) if self.cancel.is_cancelled() => return Outcome::Stopped(error),
            Err(error) => return Outcome::Failed(error),
        };
        let artifacts = traces.artifacts();
        let names: Vec<_> = artifacts.keys().map(String::as_str).collect();
        let published = if traces.has_staged() {
            self.store.publish(run, step, retry_count, &names)
        } else {
            Ok(())
        };
        match published.and_then(|()| self.store.write_output(run, step, &output)) {
            Ok(()) => Outcome::Done { output, artifacts },
            Err(error) => Outcome::Broken(error),
        }
    }

    fn body(&self, start: &Start, context: &Context) -> Result<Output, StepError> {
        let runner = self.task.runner(start.index);
        if let Some(cleanup) = runner.cleanup.filter(|_| start.follows) {
            function::clean(cleanup, context)?;
        }
        let inputs = self.inputs(start)?;
        match runner.body {
            Body::Function(body) => function::run(body, context, &inputs),
            Body::Future(body) => self.future(start.index, body, context, &inputs),
        }
    }

    #[cfg(feature = "async")]
    fn future(
        &self,
        index: StepIndex,
        body: crate::step::FutureBody,
        context: &Context,
        inputs: &Inputs,
    ) -> Result<Output, StepError> {
        let Some(runtime) = &self.runtime else {
            return Err(StepError::permanent("there is no runtime for asynchronous steps"));
        };
        let timeout = self.task.graph().step(index).timeout;
        let cancel = &self.cancel;
        crate::executor::future::run(runtime, body, context, inputs, timeout, cancel)
    }

    #[cfg(not(feature = "async"))]
    #[expect(clippy::unused_self, reason = "the same call with and without the feature")]
    fn future(
        &self,
        _index: StepIndex,
        _body: crate::step::FutureBody,
        _context: &Context,
        _inputs: &Inputs,
    ) -> Result<Output, StepError> {
        Err(StepError::permanent("asynchronous steps need apollo's feature `async`"))
    }

    fn inputs(&self, start: &Start) -> Result<Inputs, StepError> {
        let mut values = Vec::with_capacity(start.sources.len());
        for (stored_as, digest) in &start.sources {
            let output = match digest {
                Some(digest) => Some(self.store.read_output(&self.run, stored_as, *digest)?),
                None => None,
            };
            values.push((stored_as.clone(), output));
        }
        Ok(Inputs::new(values))
    }
}
