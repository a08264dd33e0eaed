//! [`RunState`] and [`RunState::apply`]: the fold of a run's records, the only way state changes.
//!
//! It is not a reader: it takes records, wherever they come from, and it decides nothing.
//!
//! **Invariant:** the state of a running engine, the state folded from its log, and the one that a
//! snapshot kept are the same value, because all of them come from here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{StepId, StepIndex};
use crate::record::{
    ArtifactEntry, Attempt, Closing, End, Event, FailReason, Header, HeaderStep, Record,
};
use crate::state::Status;
use crate::time::Timestamp;

/// What a run's records add up to.
///
/// As data it is what a snapshot keeps; that form is one version's own and no interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The first epoch's header: its parameters are those of the run.
    first: Option<Box<Header>>,
    /// The newest epoch's header.
    header: Option<Box<Header>>,
    epoch: u32,
    closed: Option<Box<Closing>>,
    /// Indexed by [`StepIndex`] in the order of the newest header.
    steps: Vec<StepState>,
    /// Only asked, never walked: its order is no order.
    #[serde(skip)]
    index: HashMap<StepId, StepIndex>,
    /// Steps of older headers that the newest one does not list.
    gone: BTreeMap<StepId, StepState>,
    resumed_from: BTreeSet<StepId>,
    last: Option<Timestamp>,
    records: u64,
}

/// What a run's records say about one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// The step.
    pub id: StepId,
    /// The digest of its definition in the newest header that listed it.
    pub definition: Option<Digest>,
    /// Its author's version of its meaning in that header.
    pub version: u32,
    /// Its state.
    pub status: Status,
    /// How many attempts were started in the run.
    pub attempts: u32,
    /// The attempt that has begun and not ended.
    pub open: Option<OpenAttempt>,
    /// How many retries were decided in this epoch.
    pub retries: u32,
    /// The retry that is being waited for, also from an epoch that died waiting.
    pub retry: Option<PendingRetry>,
    /// The digest of its newest output.
    pub output: Option<Digest>,
    /// The id under which its newest output is stored: the one it had then.
    pub stored_as: StepId,
    /// The files of its newest success.
    pub artifacts: BTreeMap<String, ArtifactEntry>,
    /// The input digests of all its attempts.
    pub inputs: BTreeSet<Digest>,
    /// What its last failed attempt said.
    pub error: Option<String>,
    /// Why it failed, where it was not its body that failed.
    pub reason: Option<FailReason>,
    /// Who skipped it.
    pub skipped: Option<String>,
    /// In how many dying epochs in a row it was open.
    pub interruptions: u32,
    /// The epoch in whose death it was open last.
    interrupted_in: Option<u32>,
    /// When its last attempt began.
    pub started: Option<Timestamp>,
    /// When its last attempt ended.
    pub ended: Option<Timestamp>,
    /// How long its last attempt took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The epoch of its last success.
    pub succeeded_in: Option<u32>,
}

/// An attempt that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAttempt {
    /// Its number in the run, from 0.
    pub retry_count: u32,
    /// Covers everything it was given.
    pub input_digest: Digest,
}

/// A retry that is being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRetry {
    /// When it is due, by the wall clock.
    pub retry_at: Timestamp,
    /// The whole wait.
    pub delay: Duration,
}

/// A record that contradicts the ones before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {seq} contradicts the ones before it: {message}")]
#[non_exhaustive]
pub struct Contradiction {
    /// The record's number in the file.
    pub seq: u64,
    /// What does not fit.
    pub message: String,
}

impl RunState {
    /// Takes the next record.
    ///
    /// # Errors
    /// [`Contradiction`] when the record can't follow the ones before it; the state is then the
    /// one before the record, or undefined where a header was refused.
    pub fn apply(&mut self, record: &Record) -> Result<(), Contradiction> {
        let applied = match &record.event {
            Event::EpochOpened(header) => self.open_epoch(record, header),
            Event::EpochClosed(closing) => self.close_epoch(record, closing),
            Event::AttemptStarted(attempt) => self.start(record, attempt),
            Event::AttemptEnded { attempt, duration_ms, end } => {
                self.end(record, attempt, *duration_ms, end)
            }
            Event::Skipped { step, attempts: _, reason } => self.skip(record, step, reason),
        };
        applied.map_err(|message| Contradiction { seq: record.seq, message })?;
        self.last = Some(record.timestamp);
        self.records = record.seq + 1;
        Ok(())
    }

    /// The newest epoch's header; `None` before the first record.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_deref()
    }

    /// The first epoch's header, which holds the run's parameters.
    #[must_use]
    pub fn first_header(&self) -> Option<&Header> {
        self.first.as_deref()
    }

    /// The newest epoch.
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// How the newest epoch was closed; `None` while it works, and after it died.
    #[must_use]
    pub fn closed(&self) -> Option<&Closing> {
        self.closed.as_deref()
    }

    /// The newest header's steps, in its order.
    #[must_use]
    pub fn steps(&self) -> &[StepState] {
        &self.steps
    }

    /// The state of a step.
    ///
    /// # Panics
    /// When the index is not of the graph that the newest header describes.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "an index of this graph is below its length")]
    pub fn step(&self, step: StepIndex) -> &StepState {
        &self.steps[step.get()]
    }

    /// The position of a step in the newest header.
    #[must_use]
    pub fn index_of(&self, id: &str) -> Option<StepIndex> {
        self.index.get(id).copied()
    }

    /// The state of a step by its id, also of one that the newest header does not list.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&StepState> {
        match self.index_of(id) {
            Some(index) => self.steps.get(index.get()),
            None => self.gone.get(id),
        }
    }

    /// Steps of older headers that the newest one does not list, sorted by id.
    pub fn gone(&self) -> impl Iterator<Item = &StepState> {
        self.gone.values()
    }

    /// The description of a step in the newest header that listed it.
    #[must_use]
    pub fn described(&self, id: &str) -> Option<&HeaderStep> {
        self.header()?.steps.get(self.index_of(id)?.get())
    }

    /// When the last record was made.
    #[must_use]
    pub const fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// How many records were taken.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// How many attempts are open.
    #[must_use]
    pub fn open_attempts(&self) -> usize {
        self.steps.iter().filter(|step| step.open.is_some()).count()
    }

    /// Whether the newest epoch closed as SUCCESS.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.closed.as_deref().is_some_and(|closing| closing.success)
    }

    /// Whether an earlier epoch was already resumed from this step on a file's word.
    #[must_use]
    pub fn was_resumed_from(&self, step: &StepId) -> bool {
        self.resumed_from.contains(step)
    }

    /// Whether dependents of a step need not wait for it any longer.
    #[must_use]
    pub fn is_satisfied(&self, step: StepIndex) -> bool {
        let optional = self.is_optional(step);
        let state = self.step(step);
        match state.status {
            Status::Success | Status::Skipped => true,
            Status::Failed => optional && state.failed_for_good(),
            Status::Pending | Status::Running => false,
        }
    }

    /// What the closing record of this epoch has to say now.
    #[must_use]
    pub fn closing(&self, duration_ms: u64) -> Closing {
        let mut counts = BTreeMap::new();
        let mut degraded = Vec::new();
        let mut success = !self.steps.is_empty();
        for (index, step) in (0..).map(StepIndex).zip(&self.steps) {
            *counts.entry(step.status).or_default() += 1;
            success &= self.is_satisfied(index);
            if step.status == Status::Failed && self.is_optional(index) {
                degraded.push(step.id.clone());
            }
        }
        let steps = self.steps.iter().map(|step| (step.id.clone(), step.status)).collect();
        Closing { success, steps: Some(steps), counts, degraded, duration_ms }
    }

    /// Makes a state that was kept as data one that can be asked and gone on with; `None` where no
    /// records can have added up to it.
    pub(crate) fn restored(mut self) -> Option<Self> {
        let indices = (0..).map(StepIndex);
        self.index = self.steps.iter().map(|step| step.id.clone()).zip(indices).collect();
        let header = self.header()?;
        let listed = header.steps.iter().map(|listed| &listed.id);
        let is_whole = listed.eq(self.steps.iter().map(|step| &step.id))
            && self.index.len() == self.steps.len()
            && self.check_edges(header).is_ok()
            && self.gone.iter().all(|(id, step)| *id == step.id && !self.index.contains_key(id))
            && self.first.is_some();
        is_whole.then_some(self)
    }

    fn is_optional(&self, step: StepIndex) -> bool {
        let described = self.header().and_then(|header| header.steps.get(step.get()));
        described.is_some_and(|described| described.optional)
    }

    fn open_epoch(&mut self, record: &Record, header: &Header) -> Result<(), String> {
        let expected = if self.header.is_some() { self.epoch + 1 } else { 0 };
        if record.epoch != expected {
            return Err(format!("epoch {} opens, {expected} is next", record.epoch));
        }
        if let Some(step) = self.steps.iter().find(|step| step.open.is_some()) {
            return Err(format!("an epoch opens while `{}` has an open attempt", step.id));
        }
        let mut known = std::mem::take(&mut self.gone);
        known.extend(self.steps.drain(..).map(|step| (step.id.clone(), step)));
        let moved: Vec<_> = header
            .renamed
            .iter()
            .filter_map(|(new, old)| Some((new.clone(), known.remove(old)?)))
            .collect();
        known.extend(moved.into_iter().map(|(id, step)| (id.clone(), StepState { id, ..step })));
        self.index.clear();
        for (index, listed) in (0..).map(StepIndex).zip(&header.steps) {
            let mut step = known.remove(&listed.id).unwrap_or_else(|| StepState::new(&listed.id));
            step.reopen(self.epoch, header.rerun.contains(&listed.id));
            step.definition = Some(listed.digest);
            step.version = listed.version;
            if self.index.insert(listed.id.clone(), index).is_some() {
                return Err(format!("the header lists `{}` twice", listed.id));
            }
            self.steps.push(step);
        }
        self.gone = known;
        self.check_edges(header)?;
        self.resumed_from.extend(header.resume_from.clone());
        self.epoch = record.epoch;
        self.closed = None;
        self.header = Some(Box::new(header.clone()));
        if self.first.is_none() {
            self.first.clone_from(&self.header);
        }
        Ok(())
    }

    fn check_edges(&self, header: &Header) -> Result<(), String> {
        if header.steps.is_empty() {
            return Err("the header lists no step".to_owned());
        }
        for step in &header.steps {
            for dependency in &step.depends_on {
                if !self.index.contains_key(dependency) {
                    return Err(format!("`{}` depends on `{dependency}`, no step", step.id));
                }
            }
        }
        Ok(())
    }

    fn close_epoch(&mut self, record: &Record, closing: &Closing) -> Result<(), String> {
        self.check_epoch(record)?;
        if let Some(step) = self.steps.iter().find(|step| step.open.is_some()) {
            return Err(format!("the epoch closes while `{}` has an open attempt", step.id));
        }
        if closing.success != self.closing(0).success {
            return Err("the summary differs from what the steps add up to".to_owned());
        }
        self.closed = Some(Box::new(closing.clone()));
        Ok(())
    }

    fn start(&mut self, record: &Record, attempt: &Attempt) -> Result<(), String> {
        self.check_epoch(record)?;
        let index = self.listed(&attempt.step)?;
        let described = self.header().and_then(|header| header.steps.get(index.get()));
        let waits_for = described.and_then(|described| {
            let mut needs = described.depends_on.iter().filter_map(|id| self.index_of(id.as_str()));
            needs.find(|dependency| !self.is_satisfied(*dependency))
        });
        if let Some(dependency) = waits_for {
            let dependency = self.step(dependency);
            let (id, status) = (&dependency.id, dependency.status);
            return Err(format!("`{}` starts while `{id}` is {status}", attempt.step));
        }
        let step = self.step_mut(index)?;
        if step.open.is_some() || !step.status.may_become(Status::Running) {
            return Err(format!("`{}` starts although it is {}", step.id, step.status));
        }
        if step.status == Status::Running && step.retry.is_none() {
            return Err(format!("`{}` starts again without a retry", step.id));
        }
        if attempt.retry_count != step.attempts {
            let (id, attempts) = (&step.id, step.attempts);
            return Err(format!("`{id}` starts as {}, {attempts} is next", attempt.retry_count));
        }
        step.status = Status::Running;
        step.attempts += 1;
        step.retry = None;
        step.inputs.insert(attempt.input_digest);
        step.started = Some(record.timestamp);
        step.ended = None;
        step.duration_ms = None;
        step.open = Some(OpenAttempt {
            retry_count: attempt.retry_count,
            input_digest: attempt.input_digest,
        });
        Ok(())
    }

    fn end(
        &mut self,
        record: &Record,
        attempt: &Attempt,
        duration_ms: Option<u64>,
        end: &End,
    ) -> Result<(), String> {
        let interrupted = matches!(end, End::Failed { reason: Some(FailReason::Interrupted), .. });
        if !interrupted {
            self.check_epoch(record)?;
        }
        let index = self.listed(&attempt.step)?;
        let epoch = self.epoch;
        let step = self.step_mut(index)?;
        let open = step.open.take_if(|open| {
            open.retry_count == attempt.retry_count && open.input_digest == attempt.input_digest
        });
        if open.is_none() {
            return Err(format!("`{}` ends an attempt that is not open", attempt.step));
        }
        step.ended = Some(record.timestamp);
        step.duration_ms = duration_ms;
        step.status = record.event.status();
        (step.error, step.reason) = (None, None);
        if interrupted {
            step.interruptions += 1;
            step.interrupted_in = Some(epoch);
        } else {
            step.interruptions = 0;
        }
        match end {
            End::Success { output_digest, artifacts } => {
                step.output = Some(*output_digest);
                step.stored_as.clone_from(&attempt.step);
                step.artifacts.clone_from(artifacts);
                step.succeeded_in = Some(epoch);
            }
            End::Failed { error, reason } => {
                step.error = Some(error.clone());
                step.reason = *reason;
            }
            End::Retrying { error, retry_at, delay_ms } => {
                step.error = Some(error.clone());
                step.retries += 1;
                let delay = Duration::from_millis(*delay_ms);
                step.retry = Some(PendingRetry { retry_at: *retry_at, delay });
            }
        }
        Ok(())
    }

    fn skip(&mut self, record: &Record, step: &StepId, reason: &str) -> Result<(), String> {
        self.check_epoch(record)?;
        let index = self.listed(step)?;
        let step = self.step_mut(index)?;
        if !step.status.may_become(Status::Skipped) {
            return Err(format!("`{}` is skipped although it is {}", step.id, step.status));
        }
        step.status = Status::Skipped;
        step.skipped = Some(reason.to_owned());
        Ok(())
    }

    fn check_epoch(&self, record: &Record) -> Result<(), String> {
        if self.header.is_none() {
            return Err("the first record does not open an epoch".to_owned());
        }
        if self.closed.is_some() {
            return Err("the epoch was closed before".to_owned());
        }
        if record.epoch != self.epoch {
            return Err(format!("it says epoch {}, {} is open", record.epoch, self.epoch));
        }
        Ok(())
    }

    fn listed(&self, id: &StepId) -> Result<StepIndex, String> {
        self.index_of(id.as_str()).ok_or_else(|| format!("the header does not list `{id}`"))
    }

    fn step_mut(&mut self, index: StepIndex) -> Result<&mut StepState, String> {
        self.steps.get_mut(index.get()).ok_or_else(|| "the step is not in the graph".to_owned())
    }
}

impl StepState {
    fn new(id: &StepId) -> Self {
        Self {
            id: id.clone(),
            definition: None,
            version: 1,
            status: Status::Pending,
            attempts: 0,
            open: None,
            retries: 0,
            retry: None,
            output: None,
            stored_as: id.clone(),
            artifacts: BTreeMap::new(),
            inputs: BTreeSet::new(),
            error: None,
            reason: None,
            skipped: None,
            interruptions: 0,
            interrupted_in: None,
            started: None,
            ended: None,
            duration_ms: None,
            succeeded_in: None,
        }
    }

    /// Whether it failed by itself, not because it was stopped or its process died.
    #[must_use]
    pub fn failed_for_good(&self) -> bool {
        let by_itself = match self.reason {
            Some(FailReason::Stopped | FailReason::Interrupted) => false,
            None | Some(FailReason::Interruptions) => true,
        };
        self.status == Status::Failed && by_itself
    }

    /// What a new epoch does to it; `ended` is the epoch before.
    fn reopen(&mut self, ended: u32, rerun: bool) {
        if rerun || !self.status.is_finished() {
            self.status = Status::Pending;
            self.skipped = None;
        }
        if self.interrupted_in != Some(ended) {
            self.interruptions = 0;
        }
        self.retries = 0;
    }
}

#[cfg(test)]
pub(crate) mod tests;
