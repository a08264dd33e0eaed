//! Captured lines: what an attempt said, for `logs`.
//!
//! It is not the log: nothing depends on it, nothing of it is synced, and losing it is a warning.

use std::io;
use std::path::PathBuf;

use super::directory::{Store, StoreError};
use crate::disk::Open;
use crate::id::{RunId, StepId};

impl Store {
    /// Where the captured lines of an attempt are.
    #[must_use]
    pub(crate) fn capture_path(&self, run: &RunId, step: &StepId, retry_count: u32) -> PathBuf {
        self.captures_dir(run).join(format!("{step}.{retry_count}.log"))
    }

    /// Adds a line to what an attempt said.
    ///
    /// # Errors
    /// [`StoreError::Write`], which is a warning: a part of the line may be there.
    ///
    /// # Durability
    /// It survives the end of this process, not a power cut.
    pub(crate) fn append_capture(
        &self,
        run: &RunId,
        step: &StepId,
        retry_count: u32,
        line: &str,
    ) -> Result<(), StoreError> {
        let path = self.capture_path(run, step, retry_count);
        let mut file = self.disk().open(&path, Open::Create);
        if file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            file = self
                .make_dir(&self.captures_dir(run))
                .and_then(|()| self.disk().open(&path, Open::Create));
        }
        let appended = file.and_then(|mut file| file.append(format!("{line}\n").as_bytes()));
        appended.map_err(|source| self.write_error(&path, source))
    }

    fn captures_dir(&self, run: &RunId) -> PathBuf {
        self.root().join("output").join(run.as_str())
    }
}
