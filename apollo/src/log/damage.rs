//! [`Damage`]: where a log stops being one, and what the records behind that place said.
//!
//! It is not the judgement: what is damaged and what is torn only `reader` decides. It is not the
//! mending either: nothing is written here.
//!
//! **Invariant:** memory grows with the steps, never with the log.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

#[cfg(feature = "cli")]
use super::beside::digest_range;
use super::lines::Lines;
use super::reader::{ReadError, Scan, Tail, UnsealedLog, read_spill, resync};
#[cfg(feature = "cli")]
use crate::digest::Digest;
use crate::id::StepId;
use crate::record::{Event, Record};
use crate::replay::RunState;
use crate::state::Status;

/// Where a log is damaged, and what is lost with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damage {
    /// The first line that is no record of this log, from 1.
    pub line: u64,
    /// Where it begins; what stands before it is good.
    pub offset_bytes: u64,
    /// What is wrong with it, and how that is known not to be the trace of a crash.
    pub reason: String,
    /// How many bytes there are from it to the end of the log.
    pub bytes: u64,
    /// How many records can still be read in these bytes.
    pub records: u64,
    /// The last end of an epoch that these records tell of: SUCCESS or FAILED.
    pub task: Option<Status>,
    /// The steps that these records, or the log's snapshot, tell of, sorted by id. Of a record that
    /// can't be read any more nothing is known, so a step may have done more than is said here.
    pub steps: Vec<LostStep>,
}

/// What the lost records said about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LostStep {
    /// The step.
    pub step: StepId,
    /// The state that is lost.
    pub status: Status,
    /// The attempt that came to it, numbered in the run from 0, where one of the records says so.
    pub retry_count: Option<u32>,
    /// The step's state by the records that are good.
    pub kept: Status,
}

/// What a reading of a whole log found.
#[derive(Debug)]
pub(crate) struct Examined {
    /// The state that the good records add up to.
    pub state: RunState,
    /// What follows them.
    pub finding: Finding,
}

/// What follows the good records of a log.
#[derive(Debug)]
pub(crate) enum Finding {
    /// Nothing that was promised: at most a torn tail.
    Sound(Scan),
    /// What should not have happened to them.
    Damaged(Damage),
}

impl Examined {
    /// How many bytes were read.
    #[cfg(feature = "cli")]
    #[must_use]
    pub(crate) fn len_bytes(&self) -> u64 {
        match &self.finding {
            Finding::Sound(scan) => scan.end_bytes + self.torn_bytes(),
            Finding::Damaged(damage) => damage.offset_bytes + damage.bytes,
        }
    }

    /// What a crash left behind the good records, in bytes.
    #[must_use]
    pub(crate) const fn torn_bytes(&self) -> u64 {
        match &self.finding {
            Finding::Sound(Scan { tail: Tail::Torn { bytes, .. }, .. }) => *bytes,
            Finding::Sound(Scan { tail: Tail::Clean, .. }) | Finding::Damaged(_) => 0,
        }
    }
}

impl LostStep {
    /// Whether the next run of the task runs it again.
    #[must_use]
    pub const fn runs_again(&self) -> bool {
        !self.kept.is_finished()
    }
}

impl<L> UnsealedLog<L> {
    /// Reads the log from its start to its end, also behind what is damaged.
    ///
    /// # Errors
    /// [`ReadError::Io`], and [`ReadError::Schema`] for another version's log. The disk is as it
    /// was.
    ///
    /// # Complexity
    /// One pass, and another one over the good records where one contradicts them.
    pub(crate) fn examine(&mut self) -> Result<Examined, ReadError> {
        let mut state = RunState::default();
        let read = self.scan(&mut |record| state.apply(&record).map_err(|error| error.message));
        let (line, offset_bytes, reason) = match read {
            Ok(scan) => return Ok(Examined { state, finding: Finding::Sound(scan) }),
            Err(ReadError::Corrupt { line, offset_bytes, reason, because, .. }) => {
                (line, offset_bytes, format!("{reason}; {because}"))
            }
            Err(ReadError::Contradiction { line, offset_bytes, message, .. }) => {
                state = self.fold_before(line)?;
                (line, offset_bytes, format!("{message}; this was not written by one apollo alone"))
            }
            Err(
                error
                @ (ReadError::Io { .. } | ReadError::Locked { .. } | ReadError::Schema { .. }),
            ) => return Err(error),
        };
        let path = self.path.clone();
        let io = |source| ReadError::Io { path: path.clone(), source };
        let remembered = self.remembered(state.records()).map_err(io)?;
        let mut lost = Lost { kept: &state, records: 0, task: None, steps: BTreeMap::new() };
        let good = state.records();
        let bytes = self.salvage(offset_bytes, &mut |record| {
            // A copy of a good record is no loss.
            if record.seq >= good {
                lost.note(record.seq, &record.event);
            }
        });
        let bytes = bytes.map_err(io)?;
        if let Some((records, state)) = &remembered {
            for step in state.steps().iter().chain(state.gone()) {
                let attempt = step.attempts.checked_sub(1).filter(|_| step.skipped.is_none());
                lost.note_state(records - 1, &step.id, step.status, attempt);
            }
        }
        let Lost { records, task, steps, kept: _ } = lost;
        let steps = steps.into_values().map(|(_seq, step)| step).collect();
        let damage = Damage { line, offset_bytes, reason, bytes, records, task, steps };
        Ok(Examined { state, finding: Finding::Damaged(damage) })
    }

    /// Hands out every record from an offset on that is valid in itself, whatever stands between
    /// them, and tells how many bytes there are. What they say need not fit together.
    ///
    /// # Errors
    /// What the disk says.
    ///
    /// # Complexity
    /// One pass.
    pub(crate) fn salvage(
        &mut self,
        offset_bytes: u64,
        each: &mut dyn FnMut(Record),
    ) -> io::Result<u64> {
        let (disk, path) = (&*self.disk, &*self.path);
        let mut lines = Lines::at(&mut *self.file, offset_bytes)?;
        while let Some((_envelope, len)) = resync(&mut lines)? {
            let line = lines.bytes().get(..len).unwrap_or_default();
            if let Ok((record, _crc)) = Record::decode(line, &|name| read_spill(disk, path, name)) {
                each(record);
            }
            lines.take(len + 1);
        }
        Ok(lines.len_bytes().saturating_sub(offset_bytes))
    }

    /// The SHA-256 of the log's first bytes.
    ///
    /// # Errors
    /// What the disk says; also when there are fewer.
    #[cfg(feature = "cli")]
    pub(crate) fn digest(&mut self, len_bytes: u64) -> io::Result<Digest> {
        digest_range(&mut *self.file, 0..len_bytes)
    }

    /// Folds the records before a line, where the one in it was refused by the fold: that may have
    /// left a state half changed.
    fn fold_before(&mut self, line: u64) -> Result<RunState, ReadError> {
        let mut state = RunState::default();
        let folded = self.scan(&mut |record| {
            if record.seq + 1 == line {
                return Err("here it ends".to_owned());
            }
            state.apply(&record).map_err(|error| error.message)
        });
        match folded {
            Ok(_) | Err(ReadError::Contradiction { .. } | ReadError::Corrupt { .. }) => Ok(state),
            Err(
                error
                @ (ReadError::Io { .. } | ReadError::Locked { .. } | ReadError::Schema { .. }),
            ) => Err(error),
        }
    }
}

/// What is found behind the damage.
struct Lost<'a> {
    kept: &'a RunState,
    records: u64,
    task: Option<Status>,
    /// What is lost of each step, and the `seq` of the record that says so: the lines need not stand
    /// in their order.
    steps: BTreeMap<StepId, (u64, LostStep)>,
}

impl Lost<'_> {
    fn note(&mut self, seq: u64, event: &Event) {
        self.records += 1;
        match event {
            Event::EpochOpened(_) => {}
            Event::EpochClosed(closing) => {
                self.task = Some(event.status());
                // It also tells of steps whose own records can't be read any more.
                for (step, status) in closing.steps.iter().flatten() {
                    self.note_state(seq, step, *status, None);
                }
            }
            Event::AttemptStarted(attempt) | Event::AttemptEnded { attempt, .. } => {
                self.put(seq, &attempt.step, event.status(), Some(attempt.retry_count));
            }
            Event::Skipped { step, .. } => self.put(seq, step, event.status(), None),
        }
    }

    /// Notes what a step had come to, where nothing says more of it.
    fn note_state(&mut self, seq: u64, step: &StepId, status: Status, retry_count: Option<u32>) {
        let told = self.steps.get(step).map(|(_seq, lost)| lost.status);
        let known = told.unwrap_or_else(|| self.kept_status(step));
        if status != known && status != Status::Pending {
            self.put(seq, step, status, retry_count);
        }
    }

    fn put(&mut self, seq: u64, step: &StepId, status: Status, retry_count: Option<u32>) {
        if self.steps.get(step).is_some_and(|(last, _lost)| *last > seq) {
            return;
        }
        let kept = self.kept_status(step);
        let lost = LostStep { step: step.clone(), status, retry_count, kept };
        self.steps.insert(step.clone(), (seq, lost));
    }

    fn kept_status(&self, step: &StepId) -> Status {
        self.kept.by_id(step.as_str()).map_or(Status::Pending, |step| step.status)
    }
}
