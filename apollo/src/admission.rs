//! Admission: from a task and its options to a run whose epoch can be worked off.
//!
//! It is not the work: `engine` does that. Here the run is found, locked, read, and judged.
//!
//! **Invariant:** nothing is written to a log before everything that can be refused was looked at;
//! of a refused run not one byte has changed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::clock::Clock;
use crate::digest::Digest;
use crate::failure::StepError;
use crate::id::{RunId, TaskId};
use crate::log::{
    Forgotten, LogError, LogFile, LogWriter, ReadError, Scan, SealedTail, Sync, UnsealedLog,
};
use crate::opening::{Opening, Refusal, open};
use crate::options::RunOptions;
use crate::params::{ParamError, Params};
use crate::policy::millis;
use crate::program::build_id;
use crate::record::{
    Attempt, End, Event, FailReason, Header, HeaderStep, Record, RecordError, SCHEMA,
};
use crate::replay::{RunState, StepState};
use crate::store::{Holder, LockError, Store, StoreError, TaskLock};
use crate::task::{ParamInfo, Task};
use crate::verdict::Comparison;

/// Why a run was not admitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// Parameters are missing, unknown or refused by their types; nothing was read or written.
    #[error("{}", lines(errors))]
    Params {
        /// Each mistake.
        errors: Vec<ParamError>,
    },
    /// A parameter of a run that was begun is frozen.
    #[error("parameter `{name}` of this run is `{frozen}` since it was begun, not `{given}`")]
    FrozenParam {
        /// The parameter.
        name: String,
        /// Its value in the log.
        frozen: String,
        /// The value that was given.
        given: String,
    },
    /// The parameters do not make a task_id.
    #[error("the task_id can't be made; set one")]
    TaskId {
        /// The rule.
        #[source]
        source: crate::id::NameError,
    },
    /// The task_id is another task's.
    #[error("task_id `{task_id}` belongs to the task `{other}`; set another one")]
    ForeignTask {
        /// The task_id.
        task_id: TaskId,
        /// Whose it is.
        other: String,
    },
    /// The program's graph, or a choice, does not fit the run.
    #[error("the run can't go on")]
    Refused {
        /// Why.
        #[source]
        source: Refusal,
    },
    /// The directory can't be used.
    #[error("the directory can't be used")]
    Store {
        /// Why.
        #[source]
        source: StoreError,
    },
    /// Another process works on this task_id.
    #[error("the run can't be locked")]
    Lock {
        /// Who, or why.
        #[source]
        source: LockError,
    },
    /// The log can't be read, or is damaged.
    #[error("the log can't be read")]
    Read {
        /// Where and how.
        #[source]
        source: ReadError,
    },
    /// The log can't be made ready for writing.
    #[error("the log can't be written")]
    Log {
        /// Why.
        #[source]
        source: LogError,
    },
    /// The record that opens the epoch does not fit into the log.
    #[error("the epoch can't be opened")]
    Record {
        /// Why.
        #[source]
        source: RecordError,
    },
}

/// What was found at the door.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The newest run is done, and its log is sealed.
    Done(Box<Done>),
    /// The epoch is opened: its first records wait for the first commit.
    Work(Box<Work>),
}

/// A run that is done already.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) store: Store,
    pub(crate) task_id: TaskId,
    pub(crate) run: RunId,
    pub(crate) state: RunState,
    pub(crate) graph_differs: bool,
    pub(crate) warnings: Vec<String>,
}

/// A run to be worked on.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) store: Arc<Store>,
    pub(crate) task_id: TaskId,
    pub(crate) run: RunId,
    pub(crate) params: Params,
    pub(crate) max_parallel: u32,
    pub(crate) state: RunState,
    pub(crate) log: LogWriter,
    pub(crate) file: LogFile,
    /// The records that open the epoch.
    pub(crate) opening: Vec<Record>,
    pub(crate) warnings: Vec<String>,
    /// Set where the log was repaired.
    pub(crate) forgotten: Option<Forgotten>,
    pub(crate) lock: TaskLock,
}

/// The log of a run that was found and read, and not yet judged.
struct Found {
    run: RunId,
    log: UnsealedLog<crate::log::Locked>,
    scan: Scan,
}

/// Finds, locks, reads and judges the run, and opens its epoch.
///
/// # Errors
/// [`AdmissionError`]; of an existing run nothing was written, except a torn tail that was sealed
/// when [`AdmissionError::Log`] says so.
pub(crate) fn admit(task: &Task, options: &RunOptions) -> Result<Admission, AdmissionError> {
    let given = normalized(task, &options.params)?;
    let task_id = task_id(task, options, &given)?;
    let root = root(options);
    let store = Store::create(Arc::clone(&options.disk), &root).map_err(store_error)?;
    let now = options.clock.now();
    let lock = store
        .lock_task(&task_id, &Holder::of(&*options.disk, now), &*options.clock)
        .map_err(|source| AdmissionError::Lock { source })?;
    let newest =
        if options.fresh { None } else { store.newest_run(&task_id).map_err(store_error)? };
    let (found, state) = match newest {
        Some(run) => {
            find(&store, run, &*options.clock).map(|(found, state)| (Some(found), state))?
        }
        None => (None, RunState::default()),
    };
    check_owner(task, &task_id, &state)?;
    let params = resolved(task, &given, &state)?;
    let found = match found {
        Some(found) if is_done(&state, options) => {
            let done = done(task, store, task_id, found, state)?;
            return Ok(Admission::Done(Box::new(done)));
        }
        found => found,
    };
    let run = match &found {
        Some(found) => found.run.clone(),
        None => store.new_run(&task_id, now).map_err(store_error)?,
    };
    let opening = judge(task, options, &store, &run, &state)?;
    let mut warnings = store.warnings();
    let forgotten = forgotten(&store, &run, &mut warnings)?;
    let (log, mut file) = match found {
        Some(found) => seal(found, &mut warnings)?,
        None => create(&store, &run)?,
    };
    warnings.extend(file.take_warnings());
    let max_parallel = max_parallel(task, options);
    let mut work = Work {
        store: Arc::new(store),
        task_id,
        run,
        params,
        max_parallel,
        state,
        log,
        file,
        opening: Vec::new(),
        warnings,
        forgotten,
        lock,
    };
    work.open_epoch(task, options, opening)?;
    Ok(Admission::Work(Box::new(work)))
}

impl Work {
    /// Closes what the dead epoch left open, then opens this one, all in the first batch.
    fn open_epoch(
        &mut self,
        task: &Task,
        options: &RunOptions,
        mut opening: Opening,
    ) -> Result<(), AdmissionError> {
        let dead: Vec<_> = self
            .state
            .steps()
            .iter()
            .filter_map(|step| {
                let open = step.open.as_ref()?;
                Some(Attempt {
                    step: step.id.clone(),
                    retry_count: open.retry_count,
                    input_digest: open.input_digest,
                })
            })
            .collect();
        let ended = self.state.epoch();
        let epoch = if self.state.header().is_some() { ended + 1 } else { 0 };
        for attempt in dead {
            let error = "interrupted: the process ended while this attempt was running".to_owned();
            let end = End::Failed { error, reason: Some(FailReason::Interrupted) };
            let event = Event::AttemptEnded { attempt, duration_ms: None, end };
            self.append(options, ended, event)?;
        }
        let skips = std::mem::take(&mut opening.skips);
        let header = self.header(task, options, opening);
        self.append(options, epoch, Event::EpochOpened(Box::new(header)))?;
        for (index, reason) in skips {
            let step = task.graph().step(index).id.clone();
            let attempts = self.state.step(index).attempts;
            self.append(options, epoch, Event::Skipped { step, attempts, reason })?;
        }
        Ok(())
    }

    fn header(&mut self, task: &Task, options: &RunOptions, opening: Opening) -> Header {
        let program = build_id(&*options.disk);
        let now = options.clock.now();
        let before = self.state.header().map(|header| header.program.clone());
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(opening.warnings);
        if before.flatten().is_some_and(|before| Some(before) != program) {
            warnings
                .push("the program is another build than the one that worked before".to_owned());
        }
        if self.state.last().is_some_and(|last| now < last) {
            warnings.push("the wall clock is behind the newest record".to_owned());
        }
        self.warnings.clone_from(&warnings);
        let holder = Holder::of(&*options.disk, now);
        Header {
            schema: SCHEMA,
            apollo: env!("CARGO_PKG_VERSION").to_owned(),
            task: task.name().clone(),
            task_id: self.task_id.clone(),
            params: recorded(task, &self.params),
            graph_digest: task.graph().digest(),
            max_parallel: self.max_parallel,
            reason: opening.reason,
            steps: header_steps(task),
            rerun: opening.rerun,
            resume_from: options.choices.resume_from.clone(),
            renamed: opening.renamed,
            warnings,
            host: holder.host,
            pid: holder.pid,
            program,
        }
    }

    fn append(
        &mut self,
        options: &RunOptions,
        epoch: u32,
        event: Event,
    ) -> Result<(), AdmissionError> {
        let record = self
            .log
            .append(options.clock.now(), epoch, event, Sync::Now)
            .map_err(|source| AdmissionError::Record { source })?;
        self.state.apply(&record).map_err(|error| AdmissionError::Record {
            source: RecordError::Meaning { message: error.message },
        })?;
        self.opening.push(record);
        Ok(())
    }
}

pub(crate) fn root(options: &RunOptions) -> PathBuf {
    let cwd = std::env::current_dir().unwrap_or_else(|_gone| PathBuf::from("."));
    Store::locate(options.dir.as_deref(), &cwd, &*options.disk)
}

/// Whether the run is done and nobody asks for more of it.
pub(crate) fn is_done(state: &RunState, options: &RunOptions) -> bool {
    state.is_success() && options.choices.resume_from.is_none()
}

fn find(store: &Store, run: RunId, clock: &dyn Clock) -> Result<(Found, RunState), AdmissionError> {
    let read = |source| AdmissionError::Read { source };
    let path = store.log_path(&run);
    let mut log = UnsealedLog::open_locked(store.disk(), &path, clock).map_err(read)?;
    let (state, scan) = log.fold().map_err(read)?;
    Ok((Found { run, log, scan }, state))
}

/// What a repair of the run's log took out of it; `None` where there was none.
fn forgotten(
    store: &Store,
    run: &RunId,
    warnings: &mut Vec<String>,
) -> Result<Option<Forgotten>, AdmissionError> {
    let mut forgotten = None;
    for kept in store.damaged_logs(run).map_err(store_error)? {
        let added = forgotten.get_or_insert_with(Forgotten::default).add(store.disk(), &kept);
        let unread = added.err().map(|error| format!(" ({error})")).unwrap_or_default();
        warnings.push(format!(
            "the log was repaired, so each step begins with its cleanup; what was lost is in `{}`{unread}",
            kept.display()
        ));
    }
    Ok(forgotten)
}

/// A run that is done. Its log is sealed as any other one: the process that wrote the last records
/// may have died before they were synced, and what is called done must stay done.
fn done(
    task: &Task,
    store: Store,
    task_id: TaskId,
    found: Found,
    state: RunState,
) -> Result<Done, AdmissionError> {
    let run = found.run.clone();
    let graph_differs = !Comparison::new(task.graph(), &state).is_same();
    let mut warnings = Vec::new();
    let (_log, file) = seal(found, &mut warnings)?;
    file.close().map_err(|source| AdmissionError::Log { source })?;
    Ok(Done { store, task_id, run, state, graph_differs, warnings })
}

fn seal(found: Found, warnings: &mut Vec<String>) -> Result<(LogWriter, LogFile), AdmissionError> {
    let sealed = found.log.seal(found.scan);
    let (log, file, tail) = sealed.map_err(|source| AdmissionError::Log { source })?;
    if let Some(SealedTail { kept, offset_bytes, bytes, why }) = tail {
        warnings.push(format!(
            "a torn tail of {bytes} bytes at byte {offset_bytes} was cut off ({why}); it is kept in \
             `{}`",
            kept.display()
        ));
    }
    Ok((log, file))
}

fn create(store: &Store, run: &RunId) -> Result<(LogWriter, LogFile), AdmissionError> {
    LogFile::create(store.disk(), &store.log_path(run))
        .map_err(|source| AdmissionError::Log { source })
}

pub(crate) fn judge(
    task: &Task,
    options: &RunOptions,
    store: &Store,
    run: &RunId,
    state: &RunState,
) -> Result<Opening, AdmissionError> {
    let mut find_loss = |step: &StepState| loss(store, run, step);
    open(task.graph(), state, &options.choices, &mut find_loss)
        .map_err(|source| AdmissionError::Refused { source })
}

/// Says what is wrong with the output and the artifacts of a step.
pub(crate) fn loss(store: &Store, run: &RunId, step: &StepState) -> Option<String> {
    let read = |digest| store.read_output(run, &step.stored_as, digest);
    if let Some(Err(lost)) = step.output.map(read) {
        return Some(StepError::from_error(&lost).message().to_owned());
    }
    step.artifacts.iter().find_map(|(name, entry)| {
        let path = store.artifact_path(run, &step.stored_as, name);
        let checked = match path {
            Ok(path) => store.check_artifact(&path, entry).map_err(StepError::from),
            Err(error) => Err(error.into()),
        };
        checked.err().map(|lost| lost.message().to_owned())
    })
}

pub(crate) fn check_owner(
    task: &Task,
    task_id: &TaskId,
    state: &RunState,
) -> Result<(), AdmissionError> {
    match state.header() {
        Some(header) if header.task != *task.name() => Err(AdmissionError::ForeignTask {
            task_id: task_id.clone(),
            other: header.task.to_string(),
        }),
        _ => Ok(()),
    }
}

/// The parameters that were given, each as its type's own text.
pub(crate) fn normalized(task: &Task, given: &Params) -> Result<Params, AdmissionError> {
    let mut params = Params::default();
    let mut errors = Vec::new();
    for (name, text) in given.iter() {
        let Some(declared) = declared(task).find(|declared| declared.name == name) else {
            let known: Vec<_> = declared(task).map(|declared| declared.name).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            errors.push(ParamError::new(name, format!("no such parameter; there are: {known}")));
            continue;
        };
        match normal_text(declared, text) {
            Ok(text) => params.set(name, text),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(params) } else { Err(AdmissionError::Params { errors }) }
}

fn normal_text(declared: &ParamInfo, text: &str) -> Result<String, ParamError> {
    (declared.normalize)(text).map_err(|message| {
        // A parser may quote the value in its message, and a secret value is never shown.
        let type_name = declared.type_name;
        let message = if declared.secret {
            format!("the value is no `{type_name}`")
        } else {
            format!("`{}` is no `{type_name}`: {message}", text.escape_debug())
        };
        ParamError::new(declared.name, message)
    })
}

/// The parameters of the run: given, or frozen in its log, or the default; all typed.
pub(crate) fn resolved(
    task: &Task,
    given: &Params,
    state: &RunState,
) -> Result<Params, AdmissionError> {
    let mut params = Params::default();
    let mut errors = Vec::new();
    for declared in declared(task) {
        let name = declared.name;
        let frozen = state.header().and_then(|header| header.params.get(name)?.as_deref());
        match (given.text(name), frozen, declared.default) {
            (Some(given), Some(frozen), _) if given != frozen && !declared.secret => {
                let (name, frozen, given) = (name.to_owned(), frozen.to_owned(), given.to_owned());
                return Err(AdmissionError::FrozenParam { name, frozen, given });
            }
            (Some(text), _, _) | (None, Some(text), _) => params.set(name, text),
            (None, None, Some(text)) => match normal_text(declared, text) {
                Ok(text) => params.set(name, text),
                Err(error) => errors.push(error),
            },
            (None, None, None) => errors.push(ParamError::new(name, "it needs a value")),
        }
    }
    if errors.is_empty() {
        for (index, step) in task.graph().indices().zip(task.graph().steps()) {
            if let Err(error) = (task.runner(index).accepts)(&params) {
                let secret = step.params.iter().any(|name| task.is_secret(name));
                let message = if secret { "a secret value is refused" } else { error.message() };
                errors.push(ParamError::new(&format!("of step {}", step.id), message));
            }
        }
    }
    if errors.is_empty() { Ok(params) } else { Err(AdmissionError::Params { errors }) }
}

/// The task_id: set, or the task's name and the values of its parameters.
pub(crate) fn task_id(
    task: &Task,
    options: &RunOptions,
    given: &Params,
) -> Result<TaskId, AdmissionError> {
    if let Some(task_id) = &options.task_id {
        return Ok(task_id.clone());
    }
    let params = resolved(task, given, &RunState::default())?;
    derived_task_id(task, &params).map_err(|source| AdmissionError::TaskId { source })
}

fn derived_task_id(task: &Task, params: &Params) -> Result<TaskId, crate::id::NameError> {
    let shown: Vec<_> = declared(task)
        .filter(|declared| !declared.secret)
        .filter_map(|declared| params.text(declared.name))
        .collect();
    if shown.is_empty() {
        return TaskId::parse(task.name().as_str());
    }
    let name = task.name();
    let readable = TaskId::parse(&format!("{name}-{}", shown.join("-")));
    // With several values a dash in one of them could be taken for the end of it.
    let ambiguous = shown.len() > 1 && shown.iter().any(|value| value.contains('-'));
    match readable {
        Ok(task_id) if !ambiguous && !shown.contains(&"") => Ok(task_id),
        _ => {
            let digest = Digest::of_json(&serde_json::json!(recorded(task, params)));
            TaskId::parse(&format!("{name}-{}", digest.short()))
        }
    }
}

/// The parameters as a record may hold them: of secret ones the names only.
pub(crate) fn recorded(task: &Task, params: &Params) -> BTreeMap<String, Option<String>> {
    let value = |declared: &ParamInfo| params.text(declared.name).filter(|_| !declared.secret);
    declared(task)
        .map(|declared| (declared.name.to_owned(), value(declared).map(str::to_owned)))
        .collect()
}

fn header_steps(task: &Task) -> Vec<HeaderStep> {
    let graph = task.graph();
    let described = graph.steps().iter().map(|step| HeaderStep {
        id: step.id.clone(),
        depends_on: step.depends_on.iter().map(|on| graph.step(*on).id.clone()).collect(),
        optional: step.need == crate::policy::Need::Optional,
        retry: step.retry,
        timeout_ms: step.timeout.map(millis),
        digest: step.digest,
        version: step.version,
    });
    described.collect()
}

fn declared(task: &Task) -> impl Iterator<Item = &'static ParamInfo> {
    task.info().params.iter()
}

fn max_parallel(task: &Task, options: &RunOptions) -> u32 {
    let cpus = || {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        u32::try_from(cpus).unwrap_or(u32::MAX)
    };
    options.max_parallel.or(task.info().max_parallel).unwrap_or_else(cpus).max(1)
}

pub(crate) const fn store_error(source: StoreError) -> AdmissionError {
    AdmissionError::Store { source }
}

fn lines(errors: &[ParamError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
