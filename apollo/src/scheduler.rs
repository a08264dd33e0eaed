//! [`Scheduler`]: which step starts next. It decides and never acts.
//!
//! It is not the engine: no clock, no log, no thread; time comes in as a number.
//!
//! **Invariant:** a step is ready when, and only when, every dependency is satisfied in the
//! [`RunState`]; ready steps start in the order of declaration; at most `max_parallel` run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::graph::Graph;
use crate::id::StepIndex;
use crate::replay::RunState;
use crate::state::Status;
use crate::time::Timestamp;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Start an attempt of this step.
    Start(StepIndex),
    /// Nothing, until an attempt ends or this moment of the monotonic clock comes.
    WaitUntil(Duration),
    /// Nothing, until an attempt ends.
    Wait,
    /// Nothing is ready, running or waited for: the epoch is over.
    Finished,
}

/// What can start, what is waited for, and how much runs.
#[derive(Debug, Clone)]
pub(crate) struct Scheduler {
    /// Indexed by [`StepIndex`]: how many dependencies are not satisfied.
    waiting_on: Vec<u32>,
    ready: BTreeSet<StepIndex>,
    /// When a step may start that was waiting for a retry as an earlier epoch died.
    not_before: BTreeMap<StepIndex, Duration>,
    /// Retries by the moment of the monotonic clock at which they are due.
    retries: BTreeSet<(Duration, StepIndex)>,
    running: u32,
    max_parallel: u32,
    stopping: bool,
}

impl Scheduler {
    /// Looks at a run whose epoch has just been opened.
    ///
    /// `now` and `monotonic` are the same moment on both clocks: of a wait that an earlier epoch
    /// died in, only the rest is waited, and never longer than the whole wait.
    #[must_use]
    pub(crate) fn new(
        graph: &Graph,
        run: &RunState,
        max_parallel: u32,
        now: Timestamp,
        monotonic: Duration,
    ) -> Self {
        let mut this = Self {
            waiting_on: Vec::with_capacity(graph.len()),
            ready: BTreeSet::new(),
            not_before: BTreeMap::new(),
            retries: BTreeSet::new(),
            running: 0,
            max_parallel: max_parallel.max(1),
            stopping: false,
        };
        for (index, step) in graph.indices().zip(graph.steps()) {
            let missing = step.depends_on.iter().filter(|on| !run.is_satisfied(**on)).count();
            this.waiting_on.push(u32::try_from(missing).unwrap_or(u32::MAX));
            let state = run.step(index);
            if let Some(retry) = state.retry {
                let rest = retry.retry_at.since(now).min(retry.delay);
                this.not_before.insert(index, monotonic + rest);
            }
            if state.status == Status::Pending && missing == 0 {
                this.let_start(index);
            }
        }
        this
    }

    /// What to do next.
    pub(crate) fn next(&mut self, monotonic: Duration) -> Decision {
        while let Some(&(due, step)) = self.retries.first()
            && due <= monotonic
        {
            self.retries.pop_first();
            self.ready.insert(step);
        }
        let may_start = !self.stopping && self.running < self.max_parallel;
        match (self.ready.first(), self.retries.first()) {
            (Some(&step), _) if may_start => Decision::Start(step),
            (_, Some(&(due, _))) if may_start => Decision::WaitUntil(due),
            _ if self.running > 0 => Decision::Wait,
            _ => Decision::Finished,
        }
    }

    /// Takes note that an attempt of a step was started.
    pub(crate) fn started(&mut self, step: StepIndex) {
        self.ready.remove(&step);
        self.running += 1;
    }

    /// Takes note that an attempt of a step ended; `run` knows how, `due` is when its retry is.
    pub(crate) fn ended(
        &mut self,
        graph: &Graph,
        run: &RunState,
        step: StepIndex,
        due: Option<Duration>,
    ) {
        self.running = self.running.saturating_sub(1);
        match due {
            Some(due) => {
                self.retries.insert((due, step));
            }
            None => self.release(graph, run, step),
        }
    }

    /// Starts nothing more, and waits for no retry.
    pub(crate) const fn stop(&mut self) {
        self.stopping = true;
    }

    /// How many attempts run.
    #[must_use]
    pub(crate) const fn running(&self) -> u32 {
        self.running
    }

    /// Frees the dependents of a step that is satisfied now.
    fn release(&mut self, graph: &Graph, run: &RunState, step: StepIndex) {
        if !run.is_satisfied(step) {
            return;
        }
        for &dependent in graph.dependents(step) {
            let Some(missing) = self.waiting_on.get_mut(dependent.get()) else { continue };
            *missing = missing.saturating_sub(1);
            if *missing == 0 && run.step(dependent).status == Status::Pending {
                self.let_start(dependent);
            }
        }
    }

    /// Makes a step ready whose dependencies are satisfied, or lets it wait for the rest of its
    /// retry.
    fn let_start(&mut self, step: StepIndex) {
        match self.not_before.remove(&step) {
            Some(due) => {
                self.retries.insert((due, step));
            }
            None => {
                self.ready.insert(step);
            }
        }
    }
}

#[cfg(test)]
mod tests;
