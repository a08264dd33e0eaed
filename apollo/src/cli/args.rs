//! From the words of a command line to what is to be done.
//!
//! It is not the doing: one file a command does that.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::ArgMatches;
use clap::error::ErrorKind;

use super::environment::DIR;
use super::grammar::{COMMANDS, program};
use super::parameters::{self, Variables};
use crate::options::RunOptions;
use crate::task::Task;

/// What a command line asks for.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// The name that the program was called by.
    pub(crate) program: String,
    /// The directory, where one is named.
    pub(crate) dir: Option<PathBuf>,
    /// JSON instead of text.
    pub(crate) json: bool,
    /// What to do.
    pub(crate) request: Request,
}

/// What to do.
#[derive(Debug)]
pub(crate) enum Request {
    /// Run a task.
    Run(Box<RunRequest>),
    /// Show the tasks.
    List,
    /// Show all runs, or one.
    Inspect {
        /// A task_id or a run id.
        id: Option<String>,
    },
    /// Draw a graph.
    Graph {
        /// The task.
        task: Task,
        /// For mermaid instead of for a terminal.
        mermaid: bool,
    },
    /// Say what can be said of the tasks without running them.
    Check,
    /// Check the bytes of all runs, or of one.
    Verify {
        /// A task_id or a run id.
        id: Option<String>,
    },
    /// Keep what is good of a damaged log.
    Repair {
        /// A task_id or a run id.
        id: String,
        /// Only say what would be done.
        dry_run: bool,
    },
}

/// How a task is to be run.
#[derive(Debug)]
pub(crate) struct RunRequest {
    /// The task.
    pub(crate) task: Task,
    /// How.
    pub(crate) options: RunOptions,
    /// Only show what would be done.
    pub(crate) dry_run: bool,
    /// Say only what went wrong.
    pub(crate) quiet: bool,
}

/// Reads a command line, whose first word is the program.
///
/// # Errors
/// What clap has to say: a mistake, or the help that was asked for.
pub(crate) fn parse(
    tasks: &[Task],
    args: Vec<OsString>,
    variables: Variables<'_>,
) -> Result<Invocation, clap::Error> {
    let name = program_name(args.first().map(OsString::as_os_str));
    let mut grammar = program(&name, tasks);
    let args = if tasks.len() == 1 { with_default_command(args) } else { args };
    let matches = grammar.try_get_matches_from_mut(args)?;
    let dir = matches.get_one::<PathBuf>("dir").cloned();
    let dir = dir.or_else(|| variables(DIR).map(PathBuf::from));
    let json = matches.get_flag("json");
    let request = match matches.subcommand() {
        Some(("run", matches)) => {
            let request = run(tasks, matches, variables, dir.clone());
            let run = grammar.find_subcommand_mut("run");
            Request::Run(Box::new(request.map_err(|message| match run {
                Some(run) => run.error(ErrorKind::ValueValidation, message),
                None => clap::Error::raw(ErrorKind::ValueValidation, message),
            })?))
        }
        Some(("inspect", matches)) => Request::Inspect { id: text(matches, "id") },
        Some(("verify", matches)) => Request::Verify { id: text(matches, "id") },
        Some(("repair", matches)) => Request::Repair {
            id: text(matches, "id").unwrap_or_default(),
            dry_run: matches.get_flag("dry-run"),
        },
        Some(("graph", matches)) => match chosen(tasks, text(matches, "task").as_deref()) {
            Some(task) => {
                let mermaid = text(matches, "format").as_deref() == Some("mermaid");
                Request::Graph { task: task.clone(), mermaid }
            }
            None => Request::List,
        },
        Some(("check", _)) => Request::Check,
        Some(_) | None => Request::List,
    };
    Ok(Invocation { program: name, dir, json, request })
}

fn run(
    tasks: &[Task],
    matches: &ArgMatches,
    variables: Variables<'_>,
    dir: Option<PathBuf>,
) -> Result<RunRequest, String> {
    let (name, matches) = matches.subcommand().map_or((None, matches), |(n, m)| (Some(n), m));
    let task = chosen(tasks, name).ok_or("this program has no task")?.clone();
    let mut options = parameters::read(task.info(), matches, variables, RunOptions::new())?;
    if let Some(dir) = dir {
        options = options.dir(dir);
    }
    if let Some(task_id) = text(matches, "task-id") {
        options = options.task_id(&task_id).map_err(|error| error.to_string())?;
    }
    if let Some(step) = text(matches, "resume-from") {
        options = options.resume_from(&step).map_err(|error| error.to_string())?;
    }
    for step in matches.get_many::<String>("skip").into_iter().flatten() {
        options = options.skip(step).map_err(|error| error.to_string())?;
    }
    if let Some(steps) = matches.get_one::<u32>("max-parallel") {
        options = options.max_parallel(*steps);
    }
    if matches.get_flag("new") {
        options = options.fresh();
    }
    if matches.get_flag("accept-changes") {
        options = options.accept_changes();
    }
    let (dry_run, quiet) = (matches.get_flag("dry-run"), matches.get_flag("quiet"));
    Ok(RunRequest { task, options, dry_run, quiet })
}

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.get_one::<String>(id).cloned()
}

/// The task of a name, or the only one.
fn chosen<'a>(tasks: &'a [Task], name: Option<&str>) -> Option<&'a Task> {
    match name {
        Some(name) => tasks.iter().find(|task| task.name().as_str() == name),
        None => tasks.first(),
    }
}

fn program_name(arg: Option<&OsStr>) -> String {
    let path = PathBuf::from(arg.unwrap_or_default());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.is_empty() { "apollo".to_owned() } else { name }
}

/// Puts `run` before the options of a command line that names no command.
fn with_default_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    let names_none = loop {
        let Some(word) = args.get(at).map(|word| word.to_string_lossy()) else { break true };
        match &*word {
            "--dir" => at += 2,
            "--json" => at += 1,
            "-h" | "--help" | "-V" | "--version" => break false,
            word if word.starts_with("--dir=") => at += 1,
            // A word that is no command is a mistake that clap explains.
            word => break word.starts_with('-') && !COMMANDS.contains(&word),
        }
    };
    if names_none && !args.is_empty() {
        args.insert(1, "run".into());
    }
    args
}

#[cfg(test)]
mod tests;
