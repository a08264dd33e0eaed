//! [`Forgotten`]: the attempts whose records a repair took out of a log.
//!
//! It is not state: no step is what it is because of them. They are why no attempt in a repaired
//! run may believe that it is the first.
//!
//! **Invariant:** of a record that nobody can read any more nothing is known, so every step of a
//! repaired run counts as one that may have been begun.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::reader::{ReadError, UnsealedLog};
use crate::digest::Digest;
use crate::disk::Disk;
use crate::id::StepId;
use crate::record::Event;

/// The attempts whose records a repair took out of a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forgotten {
    /// The input digests of each step's attempts, as far as they can be read.
    inputs: BTreeMap<StepId, BTreeSet<Digest>>,
}

impl Forgotten {
    /// Adds the attempts that a log tells of which a repair kept beside the good one.
    ///
    /// # Errors
    /// [`ReadError::Io`] when it can't be read to its end; what came before is added.
    pub(crate) fn add(&mut self, disk: &Arc<dyn Disk>, kept: &Path) -> Result<(), ReadError> {
        let added = UnsealedLog::open(disk, kept)?.salvage(0, &mut |record| {
            if let Event::AttemptStarted(attempt) = record.event {
                self.inputs.entry(attempt.step).or_default().insert(attempt.input_digest);
            }
        });
        let io = |source| ReadError::Io { path: kept.to_owned(), source };
        added.map(drop).map_err(io)
    }

    /// The input digests of the attempts of a step.
    pub(crate) fn inputs_of(&self, step: &StepId) -> impl Iterator<Item = &Digest> {
        self.inputs.get(step).into_iter().flatten()
    }
}
