//! [`command_line`]: a program's words in, its exit code out.
//!
//! It is not a command: each has a file of its own.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use super::args::{Invocation, Request, parse};
use super::environment::{variable, wants_colour};
use super::exit::{Failure, STORAGE, SUCCESS, USAGE};
use super::output::Screen;
use super::{check, graph, inspect, list, repair, run, verify};
use crate::task::Task;

/// Runs a program's command line: what [`main!`](crate::main) calls.
///
/// `args` begins with the program's name, as [`std::env::args_os`] gives it. Handles SIGINT and
/// SIGTERM while a task runs, and prints to stdout and stderr; [`exit`](crate::exit) says what the
/// codes mean.
///
/// ```
/// # use apollo::{step, task};
/// # #[step]
/// # fn fetch() {}
/// # task! { daily { steps: [fetch] } }
/// let code = apollo::command_line(vec![daily()], ["daily", "list"].map(Into::into));
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// ```
pub fn command_line(tasks: Vec<Task>, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let screen = Arc::new(Screen::of_process(wants_colour()));
    ExitCode::from(answer(&screen, &tasks, args.into_iter().collect()))
}

fn answer(screen: &Arc<Screen>, tasks: &[Task], args: Vec<OsString>) -> u8 {
    let done = same_name(tasks).map_or(Ok(()), Err).and_then(|()| {
        let invocation = match parse(tasks, args, &variable) {
            Ok(invocation) => invocation,
            Err(said) => return Ok(say(screen, &said)),
        };
        dispatch(screen, tasks, invocation).map(|()| SUCCESS)
    });
    let code = done.unwrap_or_else(|failure| {
        screen.failure(&failure);
        failure.code
    });
    match screen.take_error() {
        Some(error) if code == SUCCESS => {
            screen.failure(&Failure::new(STORAGE, format!("can't write to stdout: {error}")));
            STORAGE
        }
        _ => code,
    }
}

fn dispatch(screen: &Arc<Screen>, tasks: &[Task], invocation: Invocation) -> Result<(), Failure> {
    let Invocation { program, dir, json, request } = invocation;
    let dir = dir.as_deref();
    match request {
        Request::Run(request) => run::run(screen, *request, &program, json),
        Request::List => list::show(screen, tasks, json),
        Request::Inspect { id: None } => inspect::show_all(screen, dir, json),
        Request::Inspect { id: Some(id) } => inspect::show_one(screen, dir, &id, &program, json),
        Request::Graph { task, mermaid } => graph::show(screen, &task, mermaid, json),
        Request::Check => check::show(screen, tasks, json),
        Request::Verify { id: None } => verify::show_all(screen, dir, &program, json),
        Request::Verify { id: Some(id) } => verify::show_one(screen, dir, &id, &program, json),
        Request::Repair { id, dry_run } => repair::show(screen, dir, &id, &program, dry_run, json),
    }
}

/// Prints what clap says: help to stdout, a mistake to stderr.
fn say(screen: &Screen, said: &clap::Error) -> u8 {
    let text = said.render();
    let shown = |colour| if colour { text.ansi().to_string() } else { text.to_string() };
    if said.use_stderr() {
        screen.say(&shown(screen.err_palette().colour));
        return USAGE;
    }
    screen.raw(shown(screen.palette().colour).as_bytes());
    SUCCESS
}

/// Two tasks with one name could not be told apart, on the command line or in the log.
fn same_name(tasks: &[Task]) -> Option<Failure> {
    let mut names: Vec<_> = tasks.iter().map(|task| task.name().as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })?;
    let hint = "give one of them another name in its `task!`";
    Some(Failure::new(USAGE, format!("two tasks of this program are called `{twice}`")).hint(hint))
}

#[cfg(test)]
mod tests;
