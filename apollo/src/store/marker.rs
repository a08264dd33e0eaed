//! Markers: what `once` leaves to know, after a crash, how far it had come.
//!
//! It is not the effect itself, nor the decision what an old marker means: that is `context`.
//!
//! **Invariant:** a marker that was written, read or removed is so after a power cut, too.

use std::io;
use std::path::PathBuf;

use super::directory::{Store, StoreError};
use crate::digest::Digest;
use crate::disk::{read_all, write_atomic};
use crate::id::{RunId, StepId};

impl Store {
    /// The marker that a step left for a key.
    ///
    /// # Errors
    /// [`StoreError::Read`] when it is there but can't be read, [`StoreError::Write`] when it can't
    /// be made durable.
    ///
    /// # Durability
    /// When it returns a marker, that survives a power cut: whoever wrote it may have died before
    /// its name was synced, and what is decided by it must not be forgotten.
    pub(crate) fn read_marker(
        &self,
        run: &RunId,
        step: &StepId,
        key: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.marker_path(run, step, key);
        match read_all(&**self.disk(), &path) {
            Ok(bytes) => {
                let dir = self.markers_dir(run);
                let synced = self.disk().sync_dir(&dir);
                synced.map_err(|source| self.write_error(&dir, source))?;
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Read { path, source }),
        }
    }

    /// Leaves a marker, in place of an older one.
    ///
    /// # Errors
    /// [`StoreError::Write`]: the old one is there, or, when it was the directory that could not
    /// be synced, either.
    ///
    /// # Durability
    /// When it returns, the marker survives a power cut.
    pub(crate) fn write_marker(
        &self,
        run: &RunId,
        step: &StepId,
        key: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        self.ensure_dir(&self.markers_dir(run))?;
        let path = self.marker_path(run, step, key);
        let written = write_atomic(&**self.disk(), &path, bytes);
        written.map_err(|source| self.write_error(&path, source))
    }

    /// Takes a marker back; one that is not there is no error.
    ///
    /// # Errors
    /// [`StoreError::Write`]: it may be there or not.
    ///
    /// # Durability
    /// When it returns, the marker does not come back after a power cut.
    pub(crate) fn remove_marker(
        &self,
        run: &RunId,
        step: &StepId,
        key: &str,
    ) -> Result<(), StoreError> {
        let path = self.marker_path(run, step, key);
        let dir = self.markers_dir(run);
        let gone = |done: io::Result<()>| match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        };
        // Also of one that is not there: whoever removed it may have died before it synced that.
        let removed =
            gone(self.disk().remove_file(&path)).and_then(|()| gone(self.disk().sync_dir(&dir)));
        removed.map_err(|source| self.write_error(&path, source))
    }

    fn markers_dir(&self, run: &RunId) -> PathBuf {
        self.state_dir(run).join("once")
    }

    /// The whole digest, since two keys that share a name would share an effect.
    fn marker_path(&self, run: &RunId, step: &StepId, key: &str) -> PathBuf {
        let digest = Digest::of(key.as_bytes()).to_string();
        let hex = digest.trim_start_matches("sha256:");
        self.markers_dir(run).join(format!("{step}.{hex}.json"))
    }
}
