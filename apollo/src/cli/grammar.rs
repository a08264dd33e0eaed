//! The commands and options as clap knows them.
//!
//! It is not what they mean: `args` reads them.
//!
//! **Invariant:** every option of a command has a help text, and the program's own parameters
//! stand under a heading of their own.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};

use super::parameters;
use super::text::{Cell, Palette, meant, table};
use crate::task::Task;

/// The names of the commands.
pub(crate) const COMMANDS: [&str; 8] =
    ["run", "list", "inspect", "graph", "check", "verify", "repair", "help"];

/// The whole command line of a program with these tasks.
pub(crate) fn program(name: &str, tasks: &[Task]) -> Command {
    let about = match tasks {
        [task] => first_paragraph(task.info().doc, "A pipeline."),
        many => format!("{} pipelines.", many.len()),
    };
    let command = Command::new(name.to_owned())
        .version(concat!("(apollo ", env!("CARGO_PKG_VERSION"), ")"))
        .about(about)
        .after_help(examples(name, tasks))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("dir")
                .long("dir")
                .value_name("DIR")
                .global(true)
                .value_parser(value_parser!(PathBuf))
                .help("Keeps logs and outputs in DIR [env: APOLLO_DIR] [default: the nearest .apollo]"),
        )
        .arg(flag("json", "Prints JSON instead of text").global(true));
    command.subcommands([
        run(tasks),
        Command::new("list").about("Shows the tasks of this program, with parameters and steps"),
        Command::new("inspect")
            .about("Shows all runs, or one: each step's state, and why it waits")
            .arg(run_id("The run to show: a task_id, whose newest run is meant, or a run id")),
        graph(tasks),
        Command::new("check").about("Says what can be said of the tasks without running them"),
        Command::new("verify")
            .about("Checks all runs, or one: log, outputs and artifacts against their checksums")
            .arg(run_id("The run to check: a task_id, whose newest run is meant, or a run id")),
        Command::new("repair")
            .about("Keeps what is good of a damaged log, and says what is lost")
            .arg(run_id("The run to repair: a task_id or a run id").required(true))
            .arg(flag("dry-run", "Says what would be kept and lost; writes nothing")),
    ])
}

fn run(tasks: &[Task]) -> Command {
    let command = Command::new("run").about("Runs a task, or goes on with a run that is not done");
    match tasks {
        [task] => with_run_options(command, task).arg(
            // For hands that are used to programs with several tasks.
            Arg::new("task")
                .value_parser(PossibleValuesParser::new([task.name().to_string()]))
                .hide(true),
        ),
        many => command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .disable_help_subcommand(true)
            .subcommand_value_name("TASK")
            .subcommand_help_heading("Tasks")
            .subcommands(many.iter().map(|task| {
                let about = first_paragraph(task.info().doc, "");
                with_run_options(Command::new(task.name().to_string()).about(about), task)
            })),
    }
}

fn with_run_options(command: Command, task: &Task) -> Command {
    let steps: Vec<String> = task.graph().steps().iter().map(|step| step.id.to_string()).collect();
    let step = move |text: &str| known_step(&steps, text);
    command
        .args(parameters::options(task.info()))
        .arg(parameters::param_option())
        .arg(
            Arg::new("task-id")
                .long("task-id")
                .value_name("ID")
                .help("Names the instance [default: the task's name and its parameters]"),
        )
        .arg(flag("new", "Starts a fresh run, whatever became of the ones before"))
        .arg(
            Arg::new("resume-from")
                .long("resume-from")
                .value_name("STEP")
                .conflicts_with("new")
                .value_parser(step.clone())
                .help("Runs STEP and all that depends on it again; skips what it waits for"),
        )
        .arg(
            Arg::new("skip")
                .long("skip")
                .value_name("STEP")
                .action(ArgAction::Append)
                .value_parser(step)
                .help("Leaves STEP out, on record; may be repeated"),
        )
        .arg(flag("accept-changes", "Goes on although finished steps changed or others vanished"))
        .arg(
            Arg::new("max-parallel")
                .long("max-parallel")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .help("Runs at most N steps at once [default: the task's, or the CPUs]"),
        )
        .arg(flag("dry-run", "Shows what would run and why; writes nothing"))
        .arg(flag("quiet", "Says only what went wrong").short('q'))
}

fn graph(tasks: &[Task]) -> Command {
    let names = tasks.iter().map(|task| task.name().to_string());
    let task = Arg::new("task")
        .value_name("TASK")
        .required(tasks.len() > 1)
        .value_parser(PossibleValuesParser::new(names))
        .hide_possible_values(tasks.len() < 2)
        .help("The task to draw");
    Command::new("graph").about("Draws a task's steps and what each depends on").arg(task).arg(
        Arg::new("format")
            .long("format")
            .value_name("FORMAT")
            .default_value("text")
            .value_parser(["text", "mermaid"])
            .help("How to draw it"),
    )
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn run_id(help: &'static str) -> Arg {
    Arg::new("id").value_name("TASK_ID").help(help)
}

fn known_step(steps: &[String], text: &str) -> Result<String, String> {
    if steps.iter().any(|step| step == text) {
        return Ok(text.to_owned());
    }
    Err(match meant(text, steps.iter().map(String::as_str)) {
        Some(near) => format!("the task has no such step; did you mean `{near}`?"),
        None => "the task has no such step; `graph` shows them".to_owned(),
    })
}

fn first_paragraph(doc: &str, otherwise: &str) -> String {
    let lines: Vec<_> = doc.trim().lines().map(str::trim).take_while(|l| !l.is_empty()).collect();
    if lines.is_empty() { otherwise.to_owned() } else { lines.join(" ") }
}

fn examples(name: &str, tasks: &[Task]) -> String {
    let (task, default) = match tasks {
        [task] => (String::new(), task.info()),
        [first, ..] => (format!(" run {}", first.name()), first.info()),
        [] => return String::new(),
    };
    let run = if task.is_empty() { " run" } else { &task };
    let mut rows = vec![
        (format!("{name}{task}"), "runs it, or goes on where it was killed"),
        (format!("{name}{run} --new"), "starts a fresh run"),
        (format!("{name}{run} --dry-run"), "shows what would run, and why"),
        (format!("{name} inspect"), "shows all runs"),
    ];
    if let Some(param) = default.params.iter().find(|param| !param.secret) {
        let value = param.default.unwrap_or("VALUE");
        let option = format!("{name}{task} --{} {value}", parameters::kebab(param.name));
        rows.insert(1, (option, "is an instance of its own, with its own runs"));
    }
    let width = rows.iter().map(|(command, _says)| command.len()).max().unwrap_or(0);
    let lines = rows.iter().map(|(command, says)| format!("  {command:width$}  {says}"));
    let mut text = format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"));
    if let [task] = tasks {
        let params = task.info().params.iter().map(|param| {
            let doc = param.doc.trim().lines().next().unwrap_or_default();
            let option = format!("  --{}", parameters::kebab(param.name));
            vec![Cell::plain(&option), Cell::plain(param.type_name), Cell::plain(doc)]
        });
        let params = table(&params.collect::<Vec<_>>(), Palette::PLAIN);
        let more =
            format!("Without a command it runs; `{name} run --help` shows how it can be run.");
        text = match params.as_slice() {
            [] => format!("{more}\n\n{text}"),
            params => format!("{more}\n\nParameters:\n{}\n\n{text}", params.join("\n")),
        };
    }
    text
}
