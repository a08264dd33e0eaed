//! Runs: the names of the logs, and which is the newest.
//!
//! It is not the state of a run: whether one is finished only its log can tell.
//!
//! **Invariant:** a new run is newer than every run of its task that left anything behind,
//! whatever the clock says.

use std::io;
use std::path::PathBuf;

use super::directory::{Store, StoreError};
use crate::id::{RunId, TaskId};
use crate::time::Timestamp;

/// What a log's name ends in.
const LOG_SUFFIX: &str = ".jsonl";

impl Store {
    /// All runs that have a log here, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Read`] when the directory can't be read.
    pub(crate) fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        let names = self.names("logs")?;
        let stems = names.iter().filter_map(|name| name.strip_suffix(LOG_SUFFIX));
        let mut runs: Vec<RunId> = stems.filter_map(|stem| RunId::parse(stem).ok()).collect();
        runs.sort_by_cached_key(|run| {
            let (task_id, start_unix_s) = run.parts();
            (start_unix_s, task_id)
        });
        Ok(runs)
    }

    /// The runs of one task_id that have a log here, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Read`] when the directory can't be read.
    pub(crate) fn runs_of(&self, task_id: &TaskId) -> Result<Vec<RunId>, StoreError> {
        let mut runs = self.runs()?;
        runs.retain(|run| run.parts().0 == *task_id);
        Ok(runs)
    }

    /// The newest run of one task_id.
    ///
    /// # Errors
    /// [`StoreError::Read`] when the directory can't be read.
    pub(crate) fn newest_run(&self, task_id: &TaskId) -> Result<Option<RunId>, StoreError> {
        Ok(self.runs_of(task_id)?.pop())
    }

    /// The run that a person means: by its own name, or the newest one of a task_id.
    ///
    /// # Errors
    /// [`StoreError::Read`] when the directory can't be read.
    pub(crate) fn find(&self, id: &str) -> Result<Option<RunId>, StoreError> {
        let mut runs = self.runs()?;
        let by_run = runs.iter().position(|run| run.as_str() == id);
        let by_task_id = || runs.iter().rposition(|run| run.parts().0.as_str() == id);
        Ok(by_run.or_else(by_task_id).map(|at| runs.swap_remove(at)))
    }

    /// Names a run that starts now; nothing is written.
    ///
    /// # Errors
    /// [`StoreError::Read`] when the directory can't be read.
    pub(crate) fn new_run(&self, task_id: &TaskId, now: Timestamp) -> Result<RunId, StoreError> {
        let mut start_unix_s = now.unix_s();
        for dir in ["logs", "archive"] {
            for name in self.names(dir)? {
                // Also what lies beside a log, or is left of one, keeps its name taken.
                let stems = name.match_indices(LOG_SUFFIX).filter_map(|(at, _)| name.get(..at));
                for run in stems.filter_map(|stem| RunId::parse(stem).ok()) {
                    let (of, start) = run.parts();
                    if of == *task_id {
                        start_unix_s = start_unix_s.max(start.saturating_add(1));
                    }
                }
            }
        }
        Ok(RunId::new(task_id, start_unix_s))
    }

    /// Where a run's log is.
    #[must_use]
    pub(crate) fn log_path(&self, run: &RunId) -> PathBuf {
        self.logs_dir().join(format!("{run}{LOG_SUFFIX}"))
    }

    /// The damaged logs of a run that repairs kept beside the good one.
    ///
    /// # Errors
    /// [`StoreError::Read`] when the directory can't be read.
    pub(crate) fn damaged_logs(&self, run: &RunId) -> Result<Vec<PathBuf>, StoreError> {
        let front = format!("{run}{LOG_SUFFIX}.corrupt-");
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        let mut names = self.names("logs")?;
        names.retain(|name| name.strip_prefix(&front).is_some_and(is_number));
        Ok(names.into_iter().map(|name| self.logs_dir().join(name)).collect())
    }

    fn names(&self, dir: &str) -> Result<Vec<String>, StoreError> {
        let path = self.root().join(dir);
        match self.disk().list(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(|source| StoreError::Read { path, source }),
        }
    }
}
