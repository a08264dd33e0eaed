//! Outputs: the value of each step, as a file that holds exactly the digested bytes.
//!
//! It is not the decision what to do about a lost one: that is the engine's.
//!
//! **Invariant:** a file is whole or not there, and an output is given back only when its bytes
//! have the digest that the log names.

use std::path::PathBuf;

use super::directory::{Store, StoreError};
use super::lost::{Kept, Lost};
use crate::digest::Digest;
use crate::disk::{read_all, write_atomic};
use crate::id::{RunId, StepId};
use crate::output::Output;

impl Store {
    /// Where the output of a step is.
    #[must_use]
    pub(crate) fn output_path(&self, run: &RunId, step: &StepId) -> PathBuf {
        self.state_dir(run).join(format!("{step}.json"))
    }

    /// Writes the output of a step; `null` needs no file.
    ///
    /// # Errors
    /// [`StoreError::Write`]: the file is the old one, or not there, or, when it was the directory
    /// that could not be synced, the new one.
    ///
    /// # Durability
    /// When it returns, the output survives a power cut.
    pub(crate) fn write_output(
        &self,
        run: &RunId,
        step: &StepId,
        output: &Output,
    ) -> Result<(), StoreError> {
        if output.is_null() {
            return Ok(());
        }
        let path = self.output_path(run, step);
        self.ensure_dir(&self.state_dir(run))?;
        let written = write_atomic(&**self.disk(), &path, output.bytes());
        written.map_err(|source| self.write_error(&path, source))
    }

    /// Gives back the output of a step that the log names by its digest.
    ///
    /// # Errors
    /// [`Lost`] when it is not there, or is another one.
    pub(crate) fn read_output(
        &self,
        run: &RunId,
        step: &StepId,
        expected: Digest,
    ) -> Result<Output, Lost> {
        let null = Output::from_bytes(b"null".to_vec());
        if expected == null.digest() {
            return Ok(null);
        }
        let path = self.output_path(run, step);
        let kept = Kept::Output;
        let bytes = match read_all(&**self.disk(), &path) {
            Ok(bytes) => bytes,
            Err(error) => return Err(Lost::unread(kept, path, error)),
        };
        let (bytes, output) = (bytes.len() as u64, Output::from_bytes(bytes));
        match output.digest() {
            found if found == expected => Ok(output),
            found => Err(Lost::Altered { kept, path, expected, found, bytes }),
        }
    }

    pub(super) fn state_dir(&self, run: &RunId) -> PathBuf {
        self.root().join("state").join(run.as_str())
    }
}
