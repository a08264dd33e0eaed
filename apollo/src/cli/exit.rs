//! What the command line's exit codes mean, and which failure has which.
//!
//! It is not the printing of a failure: `output` does that.
//!
//! **Invariant:** every error that a command can end with gets its code here, by exhaustive
//! matches, so that a new kind of error breaks the build until somebody has decided.

use std::error::Error;
use std::fmt::Display;

use super::text::{Cell, Palette, Style, table};
use crate::admission::AdmissionError;
use crate::engine::EngineError;
use crate::id::RunId;
use crate::log::{LogError, ReadError};
use crate::opening::Refusal;
use crate::params::ParamError;
use crate::repair::RepairError;
use crate::run::RunError;
use crate::state::Status;
use crate::store::{LockError, StoreError};
use crate::verdict::StepVerdict;

/// Success, also a degraded one, which is then said on stderr.
pub const SUCCESS: u8 = 0;
/// The task failed: a required step failed, or could not be reached.
pub const FAILED: u8 = 1;
/// The command, a parameter or the graph is wrong; nothing was run.
pub const USAGE: u8 = 2;
/// Refused: the graph changed, a frozen parameter was to change, the log or an output is damaged,
/// the directory is unsafe, or the task_id is another task's. Nothing was run.
pub const REFUSED: u8 = 3;
/// Another process works on the run.
pub const LOCKED: u8 = 4;
/// Storage failed; what was committed is on record.
pub const STORAGE: u8 = 5;
/// Stopped by SIGINT; the run can be resumed.
pub const INTERRUPTED: u8 = 130;
/// Stopped by SIGTERM; the run can be resumed.
pub const TERMINATED: u8 = 143;

/// Why a command ends without success: what is said, and the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: u8,
    /// What went wrong, in one sentence.
    pub(crate) message: String,
    /// What caused it, nearest first.
    pub(crate) causes: Vec<String>,
    /// Lines that belong to the message, such as a table.
    pub(crate) details: Vec<String>,
    /// What a person can do about it, each in one sentence.
    pub(crate) hints: Vec<String>,
}

impl Failure {
    /// A failure without a cause.
    pub(crate) fn new(code: u8, message: impl Display) -> Self {
        let message = message.to_string();
        Self { code, message, causes: Vec::new(), details: Vec::new(), hints: Vec::new() }
    }

    /// A failure with the causes of an error.
    fn of(code: u8, error: &dyn Error) -> Self {
        let mut this = Self::new(code, error);
        let mut source = error.source();
        while let Some(cause) = source {
            this.causes.push(cause.to_string());
            source = cause.source();
        }
        this
    }

    /// The same failure, with something to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What a run ended with; `signal` is the code of the signal that stopped it.
    pub(crate) fn of_run(error: &RunError, program: &str, signal: Option<u8>) -> Self {
        match error {
            RunError::Admission(error) => Self::of_admission(error, program),
            RunError::Failed { summary } => {
                let mut this = Self::of(FAILED, error);
                if summary.steps.iter().any(|(_id, status)| *status == Status::Pending) {
                    let pending = summary.steps.iter().filter(|(_, s)| *s == Status::Pending);
                    let ids: Vec<_> = pending.map(|(id, _status)| id.as_str()).take(8).collect();
                    this.details.push(format!("  not reached: {}", ids.join(", ")));
                }
                this.hint(format!(
                    "`{program} inspect {}` shows each step; the same command tries again",
                    summary.task_id
                ))
            }
            RunError::Stopped { .. } => Self::of(signal.unwrap_or(INTERRUPTED), error),
            RunError::Engine(EngineError::Log { source }) => Self::of(of_log(source), error),
            RunError::Engine(EngineError::Store { source }) => Self::of(of_store(source), error),
            RunError::Engine(EngineError::Defect { .. }) | RunError::Runtime { .. } => {
                Self::of(STORAGE, error)
            }
        }
    }

    /// Why a run was not admitted.
    pub(crate) fn of_admission(error: &AdmissionError, program: &str) -> Self {
        match error {
            AdmissionError::Params { errors } => of_params(errors),
            AdmissionError::FrozenParam { .. } => Self::of(REFUSED, error)
                .hint("leave it out to go on; `--new` starts a fresh run with the new value"),
            AdmissionError::TaskId { .. } => {
                Self::of(USAGE, error).hint("name it with `--task-id ID`")
            }
            AdmissionError::ForeignTask { .. } => {
                Self::of(REFUSED, error).hint("name another one with `--task-id ID`")
            }
            AdmissionError::Refused { source } => of_refusal(error, source),
            AdmissionError::Store { source } => Self::of(of_store(source), error),
            AdmissionError::Lock { source } => of_lock(error, source, program),
            AdmissionError::Read { source } => of_unread(error, source, program),
            AdmissionError::Log { source } => Self::of(of_log(source), error),
            AdmissionError::Record { .. } => Self::of(USAGE, error),
        }
    }

    /// Why a directory can't be read.
    pub(crate) fn of_store(error: &StoreError) -> Self {
        Self::of(of_store(error), error)
    }

    /// Why the log of the run that a person called `id` can't be read.
    pub(crate) fn of_read(error: &ReadError, program: &str, id: &str) -> Self {
        match error {
            ReadError::Corrupt { .. } | ReadError::Contradiction { .. } => {
                Self::of(REFUSED, error).hint(how_to_repair(program, id))
            }
            ReadError::Io { .. } | ReadError::Locked { .. } | ReadError::Schema { .. } => {
                Self::of(of_read(error), error)
            }
        }
    }

    /// Why a log was not repaired.
    pub(crate) fn of_repair(error: &RepairError, program: &str) -> Self {
        match error {
            RepairError::Unknown { .. } => Self::of(USAGE, error),
            RepairError::Store { source } => Self::of(of_store(source), error),
            RepairError::Lock { source } => of_lock(error, source, program),
            RepairError::Read { source } => Self::of(of_read(source), error),
            RepairError::Log { source } => Self::of(of_log(source), error),
        }
    }
}

/// What can be done about a damaged log.
pub(crate) fn how_to_repair(program: &str, id: &str) -> String {
    format!(
        "`{program} repair {id} --dry-run` says what a repair would keep and what it would lose; \
         `run --new` starts a fresh run"
    )
}

fn of_lock(error: &dyn Error, lock: &LockError, program: &str) -> Failure {
    match lock {
        LockError::Held { task_id, .. } => Failure::of(LOCKED, error)
            .hint(format!("wait until it ends; `{program} inspect {task_id}` shows how far it is")),
        LockError::Failed { .. } => Failure::of(STORAGE, error),
    }
}

/// Why the log of the newest run of a task can't be read.
fn of_unread(error: &AdmissionError, read: &ReadError, program: &str) -> Failure {
    let failure = Failure::of(of_read(read), error);
    match read {
        ReadError::Corrupt { path, .. } | ReadError::Contradiction { path, .. } => {
            let run = path.file_stem().and_then(|stem| RunId::parse(stem.to_str()?).ok());
            let task_id = run.map(|run| run.parts().0.to_string());
            failure.hint(how_to_repair(program, task_id.as_deref().unwrap_or("TASK_ID")))
        }
        ReadError::Io { .. } | ReadError::Locked { .. } | ReadError::Schema { .. } => failure,
    }
}

fn of_params(errors: &[ParamError]) -> Failure {
    let mut this = match errors {
        [one] => Failure::new(USAGE, one),
        many => {
            let mut this = Failure::new(USAGE, format!("{} parameters are wrong", many.len()));
            this.details = many.iter().map(|error| format!("  {error}")).collect();
            this
        }
    };
    let options: Vec<_> =
        errors.iter().map(|error| format!("`--{} VALUE`", error.name.replace('_', "-"))).collect();
    if errors.iter().all(|error| !error.name.contains(' ')) {
        this.hints.push(format!("give {}; `--help` says more", options.join(" and ")));
    }
    this
}

fn of_refusal(error: &AdmissionError, refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::ChangedGraph { verdicts } => {
            let mut this = Failure::of(REFUSED, error);
            this.details = verdict_table(verdicts);
            this.hint("`--accept-changes` goes on like this; `--new` starts a fresh run")
        }
        Refusal::UnknownStep { .. } => Failure::of(USAGE, error),
        Refusal::MissingOutput { dependency, .. } => Failure::of(REFUSED, error)
            .hint(format!("let `{dependency}` run, or skip what needs it, too")),
    }
}

/// The table of what a changed graph means, without the steps that stay as they are.
fn verdict_table(verdicts: &[StepVerdict]) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = verdicts
        .iter()
        .map(|step| {
            let status = step.status.map_or("-", Status::as_str);
            let mark = if step.needs_consent { "!" } else { " " };
            let style = if step.needs_consent { Style::Bad } else { Style::Plain };
            vec![
                Cell::new(mark, style),
                Cell::plain(step.id.as_str()),
                Cell::plain(status),
                Cell::new(&step.verdict.to_string(), style),
                Cell::plain(&step.why),
            ]
        })
        .collect();
    table(&rows, Palette::PLAIN)
}

const fn of_store(error: &StoreError) -> u8 {
    match error {
        StoreError::Unsafe { .. } => REFUSED,
        StoreError::Missing { .. } | StoreError::Name(_) => USAGE,
        StoreError::Read { .. } | StoreError::Write { .. } => STORAGE,
    }
}

const fn of_log(error: &LogError) -> u8 {
    match error {
        LogError::Locked { .. } => LOCKED,
        LogError::Create { .. }
        | LogError::Seal { .. }
        | LogError::Repair { .. }
        | LogError::Changed { .. }
        | LogError::NoRoom { .. }
        | LogError::Write { .. }
        | LogError::Sync { .. }
        | LogError::Poisoned { .. } => STORAGE,
    }
}

const fn of_read(error: &ReadError) -> u8 {
    match error {
        ReadError::Io { .. } => STORAGE,
        ReadError::Locked { .. } => LOCKED,
        ReadError::Corrupt { .. } | ReadError::Contradiction { .. } | ReadError::Schema { .. } => {
            REFUSED
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;
    use crate::id::TaskId;

    fn check(error: AdmissionError, code: u8, causes: usize, hint: &str) {
        let failure = Failure::of_admission(&error, "prog");
        assert_eq!((failure.code, failure.causes.len()), (code, causes), "{failure:?}");
        assert_eq!(failure.hints.first().map_or("", String::as_str), hint, "{failure:?}");
    }

    #[test]
    fn each_refusal_has_its_code_and_its_hint() {
        let task_id = TaskId::parse("x").unwrap();
        check(
            AdmissionError::Lock { source: LockError::Held { task_id, holder: None } },
            LOCKED,
            1,
            "wait until it ends; `prog inspect x` shows how far it is",
        );
        let path = PathBuf::from("/d");
        let missing = StoreError::Missing { path: path.clone() };
        check(AdmissionError::Store { source: missing }, USAGE, 1, "");
        let source = io::ErrorKind::StorageFull.into();
        let full = StoreError::Write { path, free_bytes: Some(0), source };
        check(AdmissionError::Store { source: full }, STORAGE, 2, "");
        let errors = vec![ParamError::new("task_date", "it needs a value")];
        let hint = "give `--task-date VALUE`; `--help` says more";
        check(AdmissionError::Params { errors }, USAGE, 0, hint);
    }

    #[test]
    fn a_defect_is_not_taken_for_a_failed_task() {
        let error = RunError::Engine(EngineError::Defect { message: "x".to_owned() });
        assert_eq!(Failure::of_run(&error, "prog", None).code, STORAGE);
    }
}
