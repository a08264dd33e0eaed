//! [`Plan`]: what a run would do, for those who ask first.
//!
//! It is not a rehearsal: no body runs. The same judgement as of a run is made, and then nothing.
//!
//! **Invariant:** nothing is written and no lock is taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::admission::{
    AdmissionError, check_owner, is_done, judge, normalized, recorded, resolved, root, store_error,
    task_id,
};
use crate::id::{RunId, TaskId};
use crate::log::UnsealedLog;
use crate::opening::{Opening, open};
use crate::options::RunOptions;
use crate::replay::RunState;
use crate::store::{Liveness, Store, StoreError};
use crate::task::Task;

/// What a dry run shows; nothing was written and no lock was taken.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The logical instance.
    pub task_id: TaskId,
    /// The run that would go on; `None` when a new one would begin.
    pub run: Option<RunId>,
    /// Its state before; that of no record when a new one would begin.
    pub state: RunState,
    /// Whether there is nothing to do.
    pub done: bool,
    /// What the epoch would begin with; `None` when there is nothing to do.
    pub opening: Option<Opening>,
    /// The parameters by name; `None` for a secret one.
    pub params: BTreeMap<String, Option<String>>,
}

/// Says what [`admit`](crate::admission::admit) would do, without a lock and without writing anything.
///
/// # Errors
/// As [`admit`](crate::admission::admit).
pub(crate) fn plan(task: &Task, options: &RunOptions) -> Result<Plan, AdmissionError> {
    let given = normalized(task, &options.params)?;
    let task_id = task_id(task, options, &given)?;
    let (mut newest, mut state) = (None, RunState::default());
    let store = match Store::open(Arc::clone(&options.disk), &root(options)) {
        Ok(store) => Some(store),
        Err(StoreError::Missing { .. }) => None,
        Err(error) => return Err(store_error(error)),
    };
    if let Some(store) = store.as_ref().filter(|_| !options.fresh) {
        newest = store.newest_run(&task_id).map_err(store_error)?;
        if let Some(run) = &newest {
            state = read_state(store, run)?;
        }
    }
    check_owner(task, &task_id, &state)?;
    let params = resolved(task, &given, &state)?;
    let params = recorded(task, &params);
    let done = is_done(&state, options);
    let mut opening = match (&newest, &store) {
        _ if done => None,
        (Some(run), Some(store)) => Some(judge(task, options, store, run, &state)?),
        (None, _) | (_, None) => {
            let fresh = open(task.graph(), &state, &options.choices, &mut |_| None);
            Some(fresh.map_err(|source| AdmissionError::Refused { source })?)
        }
    };
    if let (Some(opening), Some(store)) = (&mut opening, &store)
        && matches!(store.holder_of(&task_id), Ok(Liveness::Running(_)))
    {
        let warning = "a process works on it now, so this is what would be left if it died";
        opening.warnings.push(warning.to_owned());
    }
    Ok(Plan { task_id, run: newest, state, done, opening, params })
}

/// Folds the log of a run that may be live; nothing is written and no lock is taken.
///
/// # Errors
/// [`AdmissionError::Read`] when the log is damaged or can't be read.
fn read_state(store: &Store, run: &RunId) -> Result<RunState, AdmissionError> {
    let read = |source| AdmissionError::Read { source };
    let mut log = UnsealedLog::open(store.disk(), &store.log_path(run)).map_err(read)?;
    let (state, _scan) = log.fold().map_err(read)?;
    Ok(state)
}
