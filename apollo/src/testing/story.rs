//! [`Story`]: what the log of a run that was killed and finished tells of its steps.
//!
//! It is not the state of the run: that is the same as ever, and says nothing of what was done
//! twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, RealDisk};
use crate::id::StepId;
use crate::log::{ReadError, UnsealedLog};
use crate::record::{End, Event, Record};

/// What the log of a run tells of its steps.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// How many records there are.
    pub(super) records: usize,
    /// Steps that were begun again after an attempt that came to nothing, in that order.
    pub(super) again: Vec<StepId>,
    /// A step that was begun again although its success was on record, and no header said so.
    pub(super) unasked: Option<StepId>,
    /// How the last attempt of each step ended.
    ends: BTreeMap<StepId, End>,
    /// The steps that the newest header wants done again.
    rerun: Vec<StepId>,
}

impl Story {
    /// Reads a log.
    ///
    /// # Errors
    /// As for any reader of a log.
    pub(super) fn read(log: &Path) -> Result<Self, ReadError> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut story = Self::default();
        UnsealedLog::open(&disk, log)?.scan(&mut |record| {
            story.hear(record);
            Ok(())
        })?;
        Ok(story)
    }

    /// What a step said when it failed.
    pub(super) fn error(&self, step: &StepId) -> Option<&str> {
        match self.ends.get(step)? {
            End::Failed { error, .. } | End::Retrying { error, .. } => Some(error),
            End::Success { .. } => None,
        }
    }

    fn hear(&mut self, record: Record) {
        self.records += 1;
        match record.event {
            Event::EpochOpened(header) => self.rerun = header.rerun,
            Event::AttemptStarted(attempt) => {
                let step = attempt.step;
                let asked = self.rerun.contains(&step);
                match self.ends.get(&step) {
                    Some(End::Success { .. }) if !asked => self.unasked = Some(step),
                    Some(End::Success { .. } | End::Failed { .. }) => self.again.push(step),
                    Some(End::Retrying { .. }) | None => {}
                }
            }
            Event::AttemptEnded { attempt, end, .. } => drop(self.ends.insert(attempt.step, end)),
            Event::EpochClosed(_) | Event::Skipped { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::record::{Attempt, Crc, FailReason};
    use crate::time::Timestamp;

    /// One letter a record of the only step: `s`tart, `o`k, `r`etrying, `f`ailed, `i`nterrupted.
    fn check(records: &str, again: usize, is_unasked: bool) {
        let mut story = Story::default();
        let step = StepId::parse("load").unwrap();
        let digest = Digest::of(b"");
        for (seq, letter) in (0..).zip(records.chars()) {
            let attempt = Attempt { step: step.clone(), retry_count: 0, input_digest: digest };
            let ended =
                |end| Event::AttemptEnded { attempt: attempt.clone(), duration_ms: None, end };
            let (error, reason) = (String::new(), Some(FailReason::Interrupted));
            let timestamp = Timestamp::from_unix_us(0);
            let event = match letter {
                's' => Event::AttemptStarted(attempt),
                'o' => ended(End::Success { output_digest: digest, artifacts: BTreeMap::new() }),
                'r' => ended(End::Retrying { error, retry_at: timestamp, delay_ms: 0 }),
                'f' => ended(End::Failed { error, reason: None }),
                _ => ended(End::Failed { error, reason }),
            };
            story.hear(Record {
                timestamp,
                seq,
                epoch: 0,
                durable: 0,
                prev: Crc::default(),
                event,
            });
        }
        assert_eq!((story.again.len(), story.unasked.is_some()), (again, is_unasked), "{records}");
    }

    #[test]
    fn a_retry_is_no_repetition_and_a_repeated_success_is_a_defect() {
        check("so", 0, false);
        check("srso", 0, false);
        check("siso", 1, false);
        check("srsisrso", 1, false);
        check("sfsf", 1, false);
        check("soso", 0, true);
        check("sisoso", 1, true);
    }
}
