//! [`repair`]: a damaged log is found, locked and made one that the next run goes on with.
//!
//! It is not a part of a run: no run repairs anything by itself, because what a damaged log said is
//! lost by it, and somebody has to want that.
//!
//! **Invariant:** a log that is not damaged is never changed.

use std::path::PathBuf;
use std::sync::Arc;

use crate::admission::root;
use crate::id::RunId;
use crate::log::{Damage, Examined, Finding, LogError, ReadError, UnsealedLog};
use crate::options::RunOptions;
use crate::store::{Holder, LockError, Store, StoreError};

/// What a repair found, and what it did.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Repaired {
    /// The run.
    pub run_id: RunId,
    /// Its log.
    pub log: PathBuf,
    /// How many good records it has.
    pub records: u64,
    /// Whether these say that the run is done, so that the next one has nothing to do.
    pub done: bool,
    /// What a crash left behind the good records, in bytes: the next run cuts that off by itself.
    pub torn_bytes: u64,
    /// What is wrong with the log; `None` where there is nothing to repair.
    pub damage: Option<Damage>,
    /// Where the damaged log is kept; `None` where nothing was written.
    pub kept: Option<PathBuf>,
}

/// Why a log was not repaired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// There is no such run.
    #[error("no run is called `{}`", id.escape_debug())]
    Unknown {
        /// What was asked for.
        id: String,
    },
    /// The directory can't be used.
    #[error("the directory can't be used")]
    Store {
        /// Why.
        #[source]
        source: StoreError,
    },
    /// Another process works on it.
    #[error("the run can't be locked")]
    Lock {
        /// Who, or why.
        #[source]
        source: LockError,
    },
    /// The log can't be read at all, or is another version's.
    #[error("the log can't be read")]
    Read {
        /// Why.
        #[source]
        source: ReadError,
    },
    /// The log can't be written.
    #[error("the log can't be written")]
    Log {
        /// Why.
        #[source]
        source: LogError,
    },
}

/// Repairs the log of a run: of the newest one of a task_id, or of the one with this run id.
///
/// The log keeps its good records, up to the first one that is damaged, in a new file; the damaged
/// log is kept beside it as `<log>.corrupt-<n>`. What it said behind the damage is lost, and
/// [`Damage`] tells what that was: steps whose ends are lost run again. Of the options the
/// directory, the disk and the clock matter.
///
/// A log that is not damaged is left as it is, also one that ends in a torn line: the next run cuts
/// that off by itself.
///
/// ```
/// use apollo::{RunOptions, step, task};
///
/// #[step]
/// fn fetch() {}
///
/// #[step(depends_on = [fetch])]
/// fn load() {}
///
/// task! { daily { steps: [fetch, load] } }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = std::env::temp_dir().join(format!("apollo-repair-{}", std::process::id()));
/// let options = RunOptions::new().dir(&dir);
/// let log = daily().run(&options)?.log;
/// let text = std::fs::read_to_string(&log)?;
/// std::fs::write(&log, text.replacen("\"load\"", "\"laod\"", 2))?;
/// assert!(daily().run(&options).is_err(), "a damaged log is refused");
///
/// let repaired = apollo::repair(&options, "daily")?;
/// assert!(repaired.damage.is_some() && repaired.kept.is_some());
/// assert!(daily().run(&options).is_ok(), "and then the plain run goes on");
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`RepairError`]; the log is as it was, except after [`RepairError::Log`], when it may be
/// repaired already. Repairing again ends the same.
///
/// # Durability
/// When it returns, the repaired log and the damaged one survive a power cut. Whenever it dies, the
/// log is the damaged one or the repaired one, whole.
pub fn repair(options: &RunOptions, id: &str) -> Result<Repaired, RepairError> {
    let (store, run) = find(options, id)?;
    // Found first: a directory that is not there is not made.
    let store = Store::create(Arc::clone(&options.disk), store.root()).map_err(store_error)?;
    let holder = Holder::of(&*options.disk, options.clock.now());
    let _lock = store
        .lock_task(&run.parts().0, &holder, &*options.clock)
        .map_err(|source| RepairError::Lock { source })?;
    let path = store.log_path(&run);
    let read = |source| RepairError::Read { source };
    let mut log = UnsealedLog::open_locked(store.disk(), &path, &*options.clock).map_err(read)?;
    let mut repaired = Repaired::of(run, path, log.examine().map_err(read)?);
    let failed = |source| RepairError::Log { source };
    match &repaired.damage {
        Some(damage) => {
            repaired.kept = Some(log.repair(damage.offset_bytes).map_err(failed)?);
        }
        None => log.settle().map_err(failed)?,
    }
    Ok(repaired)
}

/// Says what [`repair`] would find. Nothing is written and no lock is taken.
///
/// # Errors
/// As [`repair`], without what comes of locking and writing.
pub fn plan_repair(options: &RunOptions, id: &str) -> Result<Repaired, RepairError> {
    let (store, run) = find(options, id)?;
    let path = store.log_path(&run);
    let examined = UnsealedLog::open(store.disk(), &path).and_then(|mut log| log.examine());
    Ok(Repaired::of(run, path, examined.map_err(|source| RepairError::Read { source })?))
}

impl Repaired {
    fn of(run_id: RunId, log: PathBuf, examined: Examined) -> Self {
        let (records, done) = (examined.state.records(), examined.state.is_success());
        let torn_bytes = examined.torn_bytes();
        let damage = match examined.finding {
            Finding::Sound(_) => None,
            Finding::Damaged(damage) => Some(damage),
        };
        Self { run_id, log, records, done, torn_bytes, damage, kept: None }
    }
}

fn find(options: &RunOptions, id: &str) -> Result<(Store, RunId), RepairError> {
    let store = Store::open(Arc::clone(&options.disk), &root(options)).map_err(store_error)?;
    let run = store.find(id).map_err(store_error)?;
    let run = run.ok_or_else(|| RepairError::Unknown { id: id.to_owned() })?;
    Ok((store, run))
}

const fn store_error(source: StoreError) -> RepairError {
    RepairError::Store { source }
}
