//! One process's work on a run in the model: where each step is, and what the next commit says.
//!
//! It is not what the log says: an epoch knows what it has written and what it has been told.

use super::log::{Fold, Record};

/// The steps: two that run side by side, and one that needs both.
pub(super) const NEEDS: [&[usize]; 3] = [&[], &[], &[0, 1]];

/// One process's work on a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Epoch {
    pub(super) log: usize,
    pub(super) steps: [Step; 3],
    /// Attempts that the dead epoch left open.
    dead: [bool; 3],
    /// The header is written.
    opened: bool,
    /// What the commit that is under way has still to do.
    pub(super) commit: Option<Commit>,
    /// Whether the log's name is known to be synced.
    pub(super) named: bool,
    pub(super) closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Commit {
    SyncsFile,
    SyncsName,
}

/// A step as its epoch sees it; the numbers are those of the attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Waiting,
    /// Its STEP_START is written.
    Starting(u8),
    /// Its STEP_START is committed.
    Runnable(u8),
    Running(u8),
    /// The body has ended, its STEP_END waits for the next commit.
    Ended,
    /// Its STEP_END is written.
    Ending,
    Done,
}

impl Epoch {
    /// The epoch that goes on from what a log says.
    pub(super) fn new(log: usize, fold: Fold, named: bool) -> Self {
        let steps = fold.successes.map(|times| if times > 0 { Step::Done } else { Step::Waiting });
        Self { log, steps, dead: fold.open, opened: false, commit: None, named, closed: false }
    }

    /// The records of the next commit to a log; `free` says which steps' leases are.
    pub(super) fn next_batch(&mut self, log: Fold, free: [bool; 3]) -> Vec<Record> {
        let mut batch = Vec::new();
        if !self.opened {
            let dead = [0, 1, 2].into_iter().filter(|step| self.dead[*step]);
            batch.extend(dead.map(Record::Interrupted));
            batch.push(Record::Opened);
            self.opened = true;
        }
        for (step, at) in self.steps.iter_mut().enumerate() {
            if *at == Step::Ended {
                *at = Step::Ending;
                batch.push(Record::Succeeded(step));
            }
        }
        let succeeded = self.steps.map(|at| matches!(at, Step::Ending | Step::Done));
        for step in [0, 1, 2] {
            let is_ready = NEEDS[step].iter().all(|need| succeeded[*need]);
            if self.steps[step] == Step::Waiting && is_ready && free[step] {
                self.steps[step] = Step::Starting(log.attempts[step] + 1);
                batch.push(Record::Started(step));
            }
        }
        if succeeded == [true; 3] && !self.closed {
            self.closed = true;
            batch.push(Record::Closed);
        }
        batch
    }

    /// What was written is committed.
    pub(super) fn committed(&mut self) {
        self.release();
        for at in self.steps.iter_mut().filter(|at| **at == Step::Ending) {
            *at = Step::Done;
        }
    }

    /// Lets the bodies run whose STEP_STARTs were written.
    pub(super) fn release(&mut self) {
        for at in &mut self.steps {
            if let Step::Starting(attempt) = *at {
                *at = Step::Runnable(attempt);
            }
        }
    }
}
