//! [`Engine`]: one epoch of a run: replay, decide, execute, append, until nothing is left.
//!
//! It is not the way in: `admission` finds the run and opens the epoch, this works it off.
//!
//! **Invariant:** a body starts only after its STEP_START is committed, a dependent only after the
//! STEP_END of all it needs. One thread at a time commits, and it commits for all that wait.

mod core;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};

use self::core::{BATCH_SYNC, Commit, Core};
use crate::cancel::OnCancel;
use crate::context::AttemptInfo;
use crate::digest::Digest;
use crate::executor::attempt::{Outcome, Setting, Start};
use crate::executor::function;
use crate::failure::StepError;
use crate::id::{StepId, StepIndex};
use crate::log::{Forgotten, LogError, LogFile, LogWriter, Snapshot, SnapshotWriter, Sync};
use crate::observer::Notice;
use crate::policy::{Durability, millis};
use crate::record::{Attempt, End, Event, FailReason, Record, cut_message};
use crate::replay::RunState;
use crate::scheduler::{Decision, Scheduler};
use crate::store::StoreError;

/// Why an epoch ended before its work did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The log failed; nothing was written after the failure.
    #[error("the log failed, so the run stopped")]
    Log {
        /// What failed.
        #[source]
        source: LogError,
    },
    /// An output or an artifact could not be made durable.
    #[error("an output failed, so the run stopped")]
    Store {
        /// What failed.
        #[source]
        source: StoreError,
    },
    /// A defect of this program, or of an observer: nothing was written after it.
    #[error(
        "the run stopped at a defect, of apollo or of an observer; please report it: {message}"
    )]
    Defect {
        /// What was seen.
        message: String,
    },
}

/// One epoch at work.
#[derive(Debug)]
pub(crate) struct Engine {
    setting: Setting,
    /// Set where the log was repaired.
    forgotten: Option<Forgotten>,
    began: Duration,
    shared: Arc<Shared>,
}

/// What the workers share, and the bell for something to run, to commit or to stop for.
#[derive(Debug)]
struct Shared {
    core: Mutex<Core>,
    bell: Condvar,
}

/// What became of a commit that is in the log.
#[derive(Debug)]
struct Written {
    synced: bool,
    /// Set when there is no room for the ends of the attempts that it started.
    no_room: Option<LogError>,
}

impl OnCancel for Shared {
    fn cancelled(&self) {
        // Whoever has looked for the request under the lock and not seen it is waiting by now.
        drop(self.core.lock());
        self.bell.notify_all();
    }
}

type Guard<'a> = MutexGuard<'a, Core>;

impl Engine {
    /// Takes over a run whose log is open for writing.
    pub(crate) fn new(
        setting: Setting,
        state: RunState,
        log: LogWriter,
        file: LogFile,
        forgotten: Option<Forgotten>,
    ) -> Self {
        let clock = &setting.clock;
        let scheduler = Scheduler::new(
            setting.task.graph(),
            &state,
            setting.max_parallel,
            clock.now(),
            clock.monotonic(),
        );
        let began = clock.monotonic();
        let snapshots = SnapshotWriter::new(
            setting.store.disk(),
            setting.store.log_path(&setting.run),
            setting.snapshot_every,
            log.snapshot_records(),
            began,
        );
        let core = Core {
            state,
            scheduler,
            log,
            file: Some(file),
            snapshots: Some(snapshots),
            told_next: Vec::new(),
            starting: Vec::new(),
            runnable: VecDeque::new(),
            wake_at: None,
            unsynced_since: None,
            closing: false,
            over: false,
            failure: None,
        };
        let shared = Arc::new(Shared { core: Mutex::new(core), bell: Condvar::new() });
        Self { setting, forgotten, began, shared }
    }

    /// Works the epoch off: loads nothing more, finds what can start, executes it, writes it down,
    /// until nothing is ready, running or waited for.
    ///
    /// # Errors
    /// [`EngineError`]; what was committed before stays, and a resume goes on from there.
    pub(crate) fn run(self, opening: Vec<Record>) -> Result<RunState, EngineError> {
        let as_listener: Weak<dyn OnCancel> = Arc::<Shared>::downgrade(&self.shared);
        self.setting.request.listen(as_listener);
        self.lock().told_next = opening;
        let steps = u32::try_from(self.setting.task.graph().len()).unwrap_or(u32::MAX);
        let workers = self.setting.max_parallel.min(steps).max(1);
        std::thread::scope(|scope| {
            if self.has_batched_steps() {
                scope.spawn(|| self.work(false));
            }
            for _ in 1..workers {
                scope.spawn(|| self.work(true));
            }
            self.work(true);
        });
        let mut core = self.lock();
        if let Some(file) = core.file.take()
            && let Err(source) = file.close()
        {
            core.failure.get_or_insert(EngineError::Log { source });
        }
        let state = std::mem::take(&mut core.state);
        core.failure.take().map_or(Ok(state), Err)
    }

    /// One worker; a panic in it, an observer's for example, ends the epoch instead of hanging it.
    fn work(&self, may_run: bool) {
        let worked = function::contain(|| {
            self.work_off(may_run);
            Ok(())
        });
        if let Err(error) = worked {
            let message = format!("a worker {error}");
            self.note_failure(&mut self.lock(), Err(EngineError::Defect { message }));
        }
    }

    /// Commits what waits, runs what is committed, records how it ended, until all is over.
    fn work_off(&self, may_run: bool) {
        let mut core = self.lock();
        loop {
            core = self.lead(core, may_run);
            if core.over {
                self.shared.bell.notify_all();
                return;
            }
            let next = if may_run { core.runnable.pop_front() } else { None };
            match next {
                Some(start) => {
                    drop(core);
                    let began = self.setting.clock.monotonic();
                    let outcome = self.setting.execute(&start);
                    let took = self.setting.clock.monotonic().saturating_sub(began);
                    core = self.lock();
                    let recorded = self.record_end(&mut core, &start, outcome, took);
                    self.note_failure(&mut core, recorded);
                }
                None => core = self.wait(core),
            }
        }
    }

    /// Commits for all that wait, as long as something waits and nobody else does it.
    fn lead<'a>(&'a self, mut core: Guard<'a>, may_run: bool) -> Guard<'a> {
        let mut led = false;
        while !core.over
            && let Some(mut file) = core.file.take()
        {
            let decided = self.decide(&mut core);
            self.note_failure(&mut core, decided);
            let commit = core.next_commit(self.setting.clock.monotonic());
            let Some(mut commit) = commit else {
                core.file = Some(file);
                break;
            };
            drop(core);
            let snapshot = commit.snapshot.take();
            let written = self.write(&mut file, &commit);
            core = self.lock();
            core.file = Some(file);
            let settled = written.and_then(|written| self.settle(&mut core, commit, written));
            self.note_failure(&mut core, settled);
            // The leader runs one attempt itself, where it may, so a chain wakes nobody.
            if core.over || core.runnable.len() > usize::from(may_run) {
                self.shared.bell.notify_all();
            }
            if let Some(snapshot) = snapshot
                && core.log.durable() >= snapshot.chain.records
            {
                core = self.keep(core, &snapshot);
            }
            led = true;
        }
        // While it led nobody waited for a time, and now it may be away for long.
        if led && core.is_timed() {
            self.shared.bell.notify_one();
        }
        core
    }

    /// Writes a snapshot while the others go on, and one of them leads.
    fn keep<'a>(&'a self, mut core: Guard<'a>, snapshot: &Snapshot) -> Guard<'a> {
        let Some(mut snapshots) = core.snapshots.take() else { return core };
        self.shared.bell.notify_all();
        drop(core);
        let warning = snapshots.write(snapshot, self.setting.clock.monotonic());
        warning.iter().for_each(|warning| self.tell(Notice::Warning(warning)));
        core = self.lock();
        core.snapshots = Some(snapshots);
        core
    }

    /// Writes a batch without holding anybody up who only wants to append to the next one.
    fn write(&self, file: &mut LogFile, commit: &Commit) -> Result<Written, EngineError> {
        let Commit { batch, force_sync, open_attempts, told, .. } = commit;
        let mut no_room = None;
        let synced = match file.commit(batch, *force_sync, *open_attempts) {
            Err(full @ LogError::NoRoom { .. }) => {
                no_room = Some(full);
                file.commit_within_room(batch, *force_sync)
            }
            committed => committed,
        };
        let synced = synced.map_err(|source| EngineError::Log { source })?;
        file.take_warnings().iter().for_each(|warning| self.tell(Notice::Warning(warning)));
        told.iter().for_each(|record| self.tell(Notice::Record(record)));
        Ok(Written { synced, no_room })
    }

    /// Notes what a commit made durable, and lets the attempts run that it started.
    fn settle(&self, core: &mut Core, commit: Commit, written: Written) -> Result<(), EngineError> {
        core.log.committed(commit.batch, written.synced);
        let waits = core.log.unsynced() > 0;
        let now = self.setting.clock.monotonic();
        core.unsynced_since = waits.then(|| core.unsynced_since.unwrap_or(now));
        core.over |= commit.closes;
        if let Some(source) = written.no_room {
            core.failure.get_or_insert(EngineError::Log { source });
            self.setting.cancel.cancel();
            self.give_back(core, commit.started)?;
        } else {
            core.runnable.extend(commit.started);
        }
        Ok(())
    }

    /// Ends the attempts whose STEP_START found no room for what follows it: no body runs.
    fn give_back(&self, core: &mut Core, started: Vec<Start>) -> Result<(), EngineError> {
        for start in started {
            let error = "not begun: there is no room for the record of its end".to_owned();
            let end = End::Failed { error, reason: Some(FailReason::Stopped) };
            let attempt = start.attempt;
            let event = Event::AttemptEnded { attempt, duration_ms: Some(0), end };
            self.end(core, start.index, event, Sync::Now, None)?;
        }
        Ok(())
    }

    /// Ends an attempt on record, and tells the scheduler; `due` is when its retry is.
    fn end(
        &self,
        core: &mut Core,
        index: StepIndex,
        event: Event,
        sync: Sync,
        due: Option<Duration>,
    ) -> Result<(), EngineError> {
        self.append(core, event, sync)?;
        core.scheduler.ended(self.setting.task.graph(), &core.state, index, due);
        Ok(())
    }

    /// Turns what can start now into STEP_STARTs, and the end of all work into the closing record.
    fn decide(&self, core: &mut Core) -> Result<(), EngineError> {
        if core.closing {
            return Ok(());
        }
        if self.setting.cancel.is_cancelled() {
            core.scheduler.stop();
        }
        let now = self.setting.clock.monotonic();
        core.wake_at = None;
        loop {
            match core.scheduler.next(now) {
                Decision::Start(step) => self.start(core, step)?,
                Decision::Wait => return Ok(()),
                Decision::WaitUntil(due) => {
                    core.wake_at = Some(due);
                    return Ok(());
                }
                Decision::Finished => {
                    let closing = core.state.closing(millis(now.saturating_sub(self.began)));
                    self.append(core, Event::EpochClosed(Box::new(closing)), Sync::Now)?;
                    core.closing = true;
                    return Ok(());
                }
            }
        }
    }

    fn start(&self, core: &mut Core, index: StepIndex) -> Result<(), EngineError> {
        let graph = self.setting.task.graph();
        let step = graph.step(index);
        let state = core.state.step(index);
        let given_up = state.interruptions >= self.setting.max_interruptions;
        let sources = self.sources(&core.state, index);
        let attempt = Attempt {
            step: step.id.clone(),
            retry_count: state.attempts,
            input_digest: self.input_digest(index, &sources),
        };
        let sync = if step.start_is_synced { Sync::Now } else { sync_of(step.durability) };
        self.append(core, Event::AttemptStarted(attempt.clone()), sync)?;
        core.scheduler.started(index);
        if given_up {
            let error = format!(
                "given up: its process died {} times in a row while it was running; \
                 run again to try once more",
                self.setting.max_interruptions
            );
            let end = End::Failed { error, reason: Some(FailReason::Interruptions) };
            let event = Event::AttemptEnded { attempt, duration_ms: None, end };
            return self.end(core, index, event, Sync::Now, None);
        }
        let mut inputs = core.state.step(index).inputs.clone();
        let forgotten = self.forgotten.as_ref();
        inputs.extend(forgotten.into_iter().flat_map(|lost| lost.inputs_of(&step.id)));
        let follows = attempt.retry_count > 0 || forgotten.is_some();
        let info = AttemptInfo {
            task_id: self.setting.task_id.clone(),
            run_id: self.setting.run.clone(),
            step_id: step.id.clone(),
            retry_count: attempt.retry_count,
            input_digest: attempt.input_digest,
            inputs,
            on_unknown: step.on_unknown,
            probe: self.setting.task.runner(index).probe,
        };
        let sources = sources.into_iter().map(|(_id, stored_as, digest)| (stored_as, digest));
        core.starting.push(Start { index, attempt, info, follows, sources: sources.collect() });
        Ok(())
    }

    /// What each dependency left: its id, the id it is stored under, and its digest.
    fn sources(&self, state: &RunState, index: StepIndex) -> Vec<(StepId, StepId, Option<Digest>)> {
        let depends_on = &self.setting.task.graph().step(index).depends_on;
        let source = |&dependency: &StepIndex| {
            let step = state.step(dependency);
            let output = step.output.filter(|_| step.status.is_finished());
            (step.id.clone(), step.stored_as.clone(), output)
        };
        depends_on.iter().map(source).collect()
    }

    fn input_digest(
        &self,
        index: StepIndex,
        sources: &[(StepId, StepId, Option<Digest>)],
    ) -> Digest {
        let step = self.setting.task.graph().step(index);
        let deps: serde_json::Map<String, Value> = sources
            .iter()
            .map(|(id, _stored_as, digest)| (id.to_string(), json!(digest)))
            .collect();
        let params: serde_json::Map<String, Value> = step
            .params
            .iter()
            .filter(|name| !self.setting.task.is_secret(name))
            .map(|name| (name.clone(), json!(self.setting.params.text(name))))
            .collect();
        Digest::of_json(&json!({"deps": deps, "params": params, "step": step.digest}))
    }

    fn record_end(
        &self,
        core: &mut Core,
        start: &Start,
        outcome: Outcome,
        took: Duration,
    ) -> Result<(), EngineError> {
        if core.over {
            return Ok(());
        }
        let (mut due, index) = (None, start.index);
        let end = match outcome {
            Outcome::Broken(source) => {
                let error = cut_message(StepError::from_error(&source).message());
                core.failure.get_or_insert(EngineError::Store { source });
                self.setting.cancel.cancel();
                End::Failed { error, reason: Some(FailReason::Stopped) }
            }
            Outcome::Done { output, artifacts } => {
                End::Success { output_digest: output.digest(), artifacts }
            }
            Outcome::Stopped(error) => End::Failed {
                error: cut_message(error.message()),
                reason: Some(FailReason::Stopped),
            },
            Outcome::Failed(error) => match self.retry_wait(core, start, &error) {
                Some(delay) => {
                    due = Some(self.setting.clock.monotonic() + delay);
                    End::Retrying {
                        error: cut_message(error.message()),
                        retry_at: self.setting.clock.now().after(delay),
                        delay_ms: millis(delay),
                    }
                }
                None => End::Failed { error: cut_message(error.message()), reason: None },
            },
        };
        let sync = sync_of(self.setting.task.graph().step(index).durability);
        let attempt = start.attempt.clone();
        let event = Event::AttemptEnded { attempt, duration_ms: Some(millis(took)), end };
        self.end(core, index, event, sync, due)
    }

    /// How long to wait before the attempt is repeated; `None` when it is not.
    fn retry_wait(&self, core: &Core, start: &Start, error: &StepError) -> Option<Duration> {
        if error.is_permanent() {
            return None;
        }
        let retries = core.state.step(start.index).retries;
        let seed =
            format!("{}/{}/{}", self.setting.run, start.attempt.step, start.attempt.retry_count);
        let draw = u64::from(crc32fast::hash(seed.as_bytes()));
        self.setting.task.graph().step(start.index).retry.wait(retries + 1, draw)
    }

    /// Makes a record: into the pending batch, and into the state.
    fn append(&self, core: &mut Core, event: Event, sync: Sync) -> Result<(), EngineError> {
        let defect = |message: String| EngineError::Defect { message };
        let epoch = core.state.epoch();
        let record = core
            .log
            .append(self.setting.clock.now(), epoch, event, sync)
            .map_err(|error| defect(error.to_string()))?;
        core.state.apply(&record).map_err(|error| defect(error.to_string()))?;
        if self.setting.observer.is_some() {
            core.told_next.push(record);
        }
        Ok(())
    }

    fn wait<'a>(&'a self, core: Guard<'a>) -> Guard<'a> {
        let sync_at = core.unsynced_since.map(|since| since + BATCH_SYNC);
        let wake_at = core.wake_at.into_iter().chain(sync_at).min();
        let Some(wake_at) = wake_at.filter(|_| core.file.is_some()) else {
            return self.shared.bell.wait(core).unwrap_or_else(PoisonError::into_inner);
        };
        let clock = &self.setting.clock;
        let wait = clock.block_for(wake_at.saturating_sub(clock.monotonic()));
        let woken = self.shared.bell.wait_timeout(core, wait);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Ends the epoch at its first failure; bodies that run are told to stop.
    fn note_failure(&self, core: &mut Core, result: Result<(), EngineError>) {
        if let Err(failure) = result {
            core.over = true;
            core.failure.get_or_insert(failure);
            self.setting.cancel.cancel();
            self.shared.bell.notify_all();
        }
    }

    fn has_batched_steps(&self) -> bool {
        let steps = self.setting.task.graph().steps();
        steps.iter().any(|step| step.durability == Durability::Batch)
    }

    fn tell(&self, notice: Notice<'_>) {
        if let Some(observer) = &self.setting.observer {
            observer.notice(notice);
        }
    }

    fn lock(&self) -> Guard<'_> {
        self.shared.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn sync_of(durability: Durability) -> Sync {
    match durability {
        Durability::Always => Sync::Now,
        Durability::Batch => Sync::Batched,
    }
}
