//! [`AttemptWorkspace`]: the door behind one attempt's [`Context`](crate::context::Context).
//!
//! It is not the publisher: what an attempt stages becomes visible when the engine says so.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cancel::Cancel;
use crate::context::{ArtifactSink, Marker, Workspace};
use crate::failure::StepError;
use crate::id::{RunId, StepId};
use crate::observer::{Notice, Observer};
use crate::record::ArtifactEntry;
use crate::store::{Staged, Store, StoreError};

/// What a body left behind besides its value.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    staged: Mutex<BTreeMap<String, ArtifactEntry>>,
    /// A file was begun, whether or not it was finished.
    has_staged: AtomicBool,
    saw_cancel: AtomicBool,
    /// The first failure of the disk below the body.
    broken: Mutex<Option<StoreError>>,
}

impl Traces {
    /// The files that were finished, by name.
    pub(crate) fn artifacts(&self) -> BTreeMap<String, ArtifactEntry> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first failure of the disk while a file was written, whatever the body made of it.
    pub(crate) fn take_broken(&self) -> Option<StoreError> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note_broken(&self, failure: StoreError) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.get_or_insert(failure);
    }

    /// Tells the body of a failure; where it is the disk's, the epoch ends whatever the body does.
    fn failed(&self, failure: StoreError) -> StepError {
        let error = StepError::from_error(&failure);
        match failure {
            StoreError::Write { .. } | StoreError::Unsafe { .. } => self.note_broken(failure),
            StoreError::Name(_) | StoreError::Read { .. } | StoreError::Missing { .. } => {}
        }
        error
    }

    /// Whether a file was begun, whether or not it was finished.
    pub(crate) fn has_staged(&self) -> bool {
        self.has_staged.load(Ordering::SeqCst)
    }

    /// Whether the body asked, and was told that the run is being stopped.
    pub(crate) fn saw_cancel(&self) -> bool {
        self.saw_cancel.load(Ordering::SeqCst)
    }
}

/// The door behind one attempt's context.
#[derive(Debug)]
pub(crate) struct AttemptWorkspace {
    pub(crate) store: Arc<Store>,
    pub(crate) run: RunId,
    pub(crate) step: StepId,
    pub(crate) retry_count: u32,
    pub(crate) cancel: Cancel,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) traces: Arc<Traces>,
}

impl AttemptWorkspace {
    fn tell(&self, notice: Notice<'_>) {
        if let Some(observer) = &self.observer {
            observer.notice(notice);
        }
    }
}

impl Workspace for AttemptWorkspace {
    fn create_artifact(&self, name: &str) -> Result<Box<dyn ArtifactSink>, StepError> {
        self.traces.has_staged.store(true, Ordering::SeqCst);
        let staged = self
            .store
            .stage(&self.run, &self.step, self.retry_count, name)
            .map_err(|failure| self.traces.failed(failure))?;
        Ok(Box::new(Sink { name: name.to_owned(), staged, traces: Arc::clone(&self.traces) }))
    }

    fn artifact_path(&self, step: &StepId, name: &str) -> Result<PathBuf, StepError> {
        Ok(self.store.artifact_path(&self.run, step, name)?)
    }

    fn work_dir(&self) -> Result<PathBuf, StepError> {
        self.store.make_work_dir(&self.run).map_err(|failure| self.traces.failed(failure))
    }

    fn log(&self, line: &str) {
        if let Err(error) = self.store.append_capture(&self.run, &self.step, self.retry_count, line)
        {
            let what = StepError::from_error(&error);
            self.tell(Notice::Warning(&format!("a line of `{}` is not kept: {what}", self.step)));
        }
        self.tell(Notice::Line { step: self.step.as_str(), line });
    }

    fn progress(&self, done: u64, total: u64) {
        self.tell(Notice::Progress { step: self.step.as_str(), done, total });
    }

    fn is_cancelled(&self) -> bool {
        let cancelled = self.cancel.is_cancelled();
        self.traces.saw_cancel.fetch_or(cancelled, Ordering::SeqCst);
        cancelled
    }

    fn marker(&self, key: &str) -> Result<Option<Marker>, StepError> {
        let bytes = self.store.read_marker(&self.run, &self.step, key);
        let bytes = bytes.map_err(|failure| self.traces.failed(failure))?;
        bytes.map(|bytes| Ok(serde_json::from_slice(&bytes)?)).transpose()
    }

    fn set_marker(&self, key: &str, marker: Option<Marker>) -> Result<(), StepError> {
        let kept = match marker {
            Some(marker) => {
                let bytes = serde_json::to_vec(&marker)?;
                self.store.write_marker(&self.run, &self.step, key, &bytes)
            }
            None => self.store.remove_marker(&self.run, &self.step, key),
        };
        kept.map_err(|failure| self.traces.failed(failure))
    }
}

#[derive(Debug)]
struct Sink {
    name: String,
    staged: Staged,
    traces: Arc<Traces>,
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.staged.write(bytes).inspect_err(|error| self.note(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.staged.flush().inspect_err(|error| self.note(error))
    }
}

impl Sink {
    fn note(&self, error: &io::Error) {
        let path = self.staged.path().to_owned();
        let source =
            error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
        self.traces.note_broken(StoreError::Write { path, free_bytes: None, source });
    }
}

impl ArtifactSink for Sink {
    fn finish(self: Box<Self>) -> Result<ArtifactEntry, StepError> {
        let (_name, entry) = match self.staged.finish() {
            Ok(finished) => finished,
            Err(failure) => return Err(self.traces.failed(failure)),
        };
        let mut staged = self.traces.staged.lock().unwrap_or_else(PoisonError::into_inner);
        staged.insert(self.name, entry);
        Ok(entry)
    }
}
