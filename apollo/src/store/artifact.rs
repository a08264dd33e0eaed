//! Artifacts: the files that a step leaves. They are staged by an attempt and published together.
//!
//! It is not a promise about a file's content while its step runs: until it is published, nobody
//! else sees it.
//!
//! **Invariant:** what is published is whole and durable; what an attempt staged and did not
//! publish is gone before the next attempt begins.

use std::io;
use std::path::{Path, PathBuf};

use super::directory::{Store, StoreError};
use super::lost::{Kept, Lost};
use crate::digest::Hasher;
use crate::disk::{DiskFile, Open, digest_of};
use crate::id::{NameError, RunId, StepId};
use crate::record::ArtifactEntry;

/// How much is written at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// An artifact that is being written; it digests and counts what goes through it. One that is
/// dropped before it is finished is never published.
#[derive(Debug)]
pub(crate) struct Staged {
    store: Store,
    path: PathBuf,
    name: String,
    file: Box<dyn DiskFile>,
    buffer: Vec<u8>,
    hasher: Hasher,
    bytes: u64,
    /// The kind of the first error: a file with a hole is never finished.
    failed: Option<io::ErrorKind>,
}

impl Store {
    /// The directory that a run's artifacts are in, one directory for each step.
    #[must_use]
    pub(crate) fn work_dir(&self, run: &RunId) -> PathBuf {
        self.root().join("artifacts").join(run.as_str())
    }

    /// Makes [`Self::work_dir`], so that a step can be given it.
    ///
    /// # Errors
    /// [`StoreError::Write`] when it can't be made.
    pub(crate) fn make_work_dir(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        let path = self.work_dir(run);
        self.ensure_dir(&path)?;
        Ok(path)
    }

    /// Where a published artifact is.
    ///
    /// # Errors
    /// [`StoreError::Name`] when no artifact may be called so.
    pub(crate) fn artifact_path(
        &self,
        run: &RunId,
        step: &StepId,
        name: &str,
    ) -> Result<PathBuf, StoreError> {
        check_artifact_name(name)?;
        Ok(self.work_dir(run).join(step.as_str()).join(name))
    }

    /// Makes the directory that an attempt leaves its artifacts in until they are published.
    ///
    /// # Errors
    /// [`StoreError::Write`] when it can't be made.
    pub(crate) fn make_staging_dir(
        &self,
        run: &RunId,
        step: &StepId,
        retry_count: u32,
    ) -> Result<PathBuf, StoreError> {
        let path = self.staging_dir(run, step, retry_count);
        self.ensure_dir(&self.work_dir(run))?;
        self.make_dir(&path).map_err(|source| self.write_error(&path, source))?;
        Ok(path)
    }

    /// Begins an artifact of an attempt; one of that name which it began before is forgotten.
    ///
    /// # Errors
    /// [`StoreError::Name`] when no artifact may be called so, [`StoreError::Write`] when the disk
    /// says no.
    pub(crate) fn stage(
        &self,
        run: &RunId,
        step: &StepId,
        retry_count: u32,
        name: &str,
    ) -> Result<Staged, StoreError> {
        check_artifact_name(name)?;
        let path = self.make_staging_dir(run, step, retry_count)?.join(name);
        let mut file = self.disk().open(&path, Open::CreateNew);
        if file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            file = self
                .disk()
                .remove_file(&path)
                .and_then(|()| self.disk().open(&path, Open::CreateNew));
        }
        Ok(Staged {
            store: self.clone(),
            file: file.map_err(|source| self.write_error(&path, source))?,
            path,
            name: name.to_owned(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            hasher: Hasher::default(),
            bytes: 0,
            failed: None,
        })
    }

    /// Gives finished artifacts of an attempt their names, over those of earlier attempts.
    ///
    /// # Errors
    /// [`StoreError::Write`]: some of them may have their names; the attempt is not a success, and
    /// the next one writes them again.
    ///
    /// # Durability
    /// When it returns, the artifacts survive a power cut.
    pub(crate) fn publish<N: AsRef<str>>(
        &self,
        run: &RunId,
        step: &StepId,
        retry_count: u32,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), StoreError> {
        let staging = self.staging_dir(run, step, retry_count);
        let published = self.work_dir(run).join(step.as_str());
        let mut moved = false;
        for name in names {
            let to = self.artifact_path(run, step, name.as_ref())?;
            self.ensure_dir(&published)?;
            let renamed = self.disk().rename(&staging.join(name.as_ref()), &to);
            renamed.map_err(|source| self.write_error(&to, source))?;
            moved = true;
        }
        if moved {
            let synced = self.disk().sync_dir(&published);
            synced.map_err(|source| self.write_error(&published, source))?;
        }
        // What is left there is published by nobody; the next attempt removes it as well.
        drop(self.disk().remove_dir_all(&staging));
        Ok(())
    }

    /// Removes what attempts of a step staged and did not publish: a new attempt begins with this.
    ///
    /// # Errors
    /// [`StoreError::Write`] when something can't be removed.
    pub(crate) fn discard_staging(&self, run: &RunId, step: &StepId) -> Result<(), StoreError> {
        let dir = self.work_dir(run).join(STAGING);
        let names = match self.disk().list(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed.map_err(|source| StoreError::Read { path: dir.clone(), source })?,
        };
        for name in names {
            if name.rsplit_once('.').is_some_and(|(of, _)| of == step.as_str()) {
                let path = dir.join(name);
                let removed = self.disk().remove_dir_all(&path);
                removed.map_err(|source| self.write_error(&path, source))?;
            }
        }
        Ok(())
    }

    /// Compares a published artifact with what the log says of it.
    ///
    /// # Errors
    /// [`Lost`] when it is not there, or is another one.
    pub(crate) fn check_artifact(&self, path: &Path, entry: &ArtifactEntry) -> Result<(), Lost> {
        let (kept, path, expected) = (Kept::Artifact, path.to_owned(), entry.digest);
        match digest_of(&**self.disk(), &path) {
            Ok(found) if found == (expected, entry.bytes) => Ok(()),
            Ok((found, bytes)) => Err(Lost::Altered { kept, path, expected, found, bytes }),
            Err(error) => Err(Lost::unread(kept, path, error)),
        }
    }

    fn staging_dir(&self, run: &RunId, step: &StepId, retry_count: u32) -> PathBuf {
        self.work_dir(run).join(STAGING).join(format!("{step}.{retry_count}"))
    }
}

/// No step is called so: an id does not begin with a dot.
const STAGING: &str = ".staging";

impl Staged {
    /// Where the bytes are until they are published.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the artifact.
    ///
    /// # Errors
    /// [`StoreError::Write`] also when a write failed before, even if nobody looked.
    ///
    /// # Durability
    /// When it returns, the content is durable; the name when it is published.
    pub(crate) fn finish(mut self) -> Result<(String, ArtifactEntry), StoreError> {
        let synced = self.write_out().and_then(|()| self.file.sync());
        synced.map_err(|source| self.store.write_error(&self.path, source))?;
        let entry = ArtifactEntry { digest: self.hasher.finish(), bytes: self.bytes };
        Ok((self.name, entry))
    }

    fn write_out(&mut self) -> io::Result<()> {
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        if !self.buffer.is_empty() {
            let written = self.file.append(&self.buffer);
            self.failed = written.as_ref().err().map(io::Error::kind);
            self.buffer.clear();
            return written;
        }
        Ok(())
    }
}

impl io::Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_some() || self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.write_out()?;
        }
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out()
    }
}

/// Checks what a step calls an artifact.
pub(crate) fn check_artifact_name(name: &str) -> Result<(), NameError> {
    let rule = "use 1 to 100 of A-Z a-z 0-9 _ . -, starting with a letter, a digit or _";
    // The alphabet is that of a step id.
    StepId::parse(name).map(drop).map_err(|error| NameError {
        what: "artifact name",
        rule,
        ..error
    })
}
