//! Outputs: the value of each step, as a file that holds exactly the digested bytes.
//!
//! It is not the decision what to do about a lost one: that is the engine's.
//!
//! **Invariant:** a file is whole or not there, and an output is given back only when its bytes
//! have the digest that the log names.

use std::io;
use std::path::PathBuf;

use super::directory::{Store, StoreError};
use crate::digest::Digest;
use crate::disk::{read_all, write_atomic};
use crate::id::{RunId, StepId};
use crate::output::Output;

/// Why an output that the log names can't be given back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OutputLost {
    /// Its file is not there.
    #[error("the output `{}` is missing", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// Its file holds something else.
    #[error("the output `{}` was altered: the log says {expected}, its bytes give {found}", path.display())]
    Altered {
        /// Where it is.
        path: PathBuf,
        /// What the log says.
        expected: Digest,
        /// What the bytes give.
        found: Digest,
    },
    /// Its file can't be read.
    #[error("can't read the output `{}`", path.display())]
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
}

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
    /// [`OutputLost`] when it is not there, or is another one.
    pub(crate) fn read_output(
        &self,
        run: &RunId,
        step: &StepId,
        expected: Digest,
    ) -> Result<Output, OutputLost> {
        let null = Output::from_bytes(b"null".to_vec());
        if expected == null.digest() {
            return Ok(null);
        }
        let path = self.output_path(run, step);
        let bytes = match read_all(&**self.disk(), &path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OutputLost::Missing { path });
            }
            Err(source) => return Err(OutputLost::Unreadable { path, source }),
        };
        let output = Output::from_bytes(bytes);
        let found = output.digest();
        if found == expected {
            Ok(output)
        } else {
            Err(OutputLost::Altered { path, expected, found })
        }
    }

    pub(super) fn state_dir(&self, run: &RunId) -> PathBuf {
        self.root().join("state").join(run.as_str())
    }
}
