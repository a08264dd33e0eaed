//! A task's parameters as options of its command: `--task-date VALUE`, and `--param NAME=VALUE`.
//!
//! It is not the judgement of a run's parameters: what is missing, or frozen, admission knows.
//!
//! **Invariant:** the value of a secret parameter stands in no help and in no message.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches};

use super::environment::PARAM;
use super::text::{listed, meant};
use crate::options::RunOptions;
use crate::task::{ParamInfo, TaskInfo};

/// Gives the value of an environment variable.
pub(crate) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The option of each parameter.
pub(crate) fn options(task: &'static TaskInfo) -> impl Iterator<Item = Arg> {
    task.params.iter().map(option)
}

/// The option that takes any parameter.
pub(crate) fn param_option() -> Arg {
    Arg::new("param")
        .long("param")
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .help("Sets a parameter by its name; may be repeated")
}

/// The word on the command line for a parameter.
pub(crate) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

fn option(param: &'static ParamInfo) -> Arg {
    let option = Arg::new(id(param.name))
        .long(kebab(param.name))
        .value_name(value_name(param.type_name))
        .allow_negative_numbers(true)
        .help(help(param))
        .help_heading("Parameters");
    if param.secret {
        // clap would repeat a value that its parser refuses; admission hides it.
        option
    } else {
        option.value_parser(|text: &str| (param.normalize)(text).map(|_normal| text.to_owned()))
    }
}

fn id(name: &str) -> String {
    format!("param:{name}")
}

/// The last word of a type, where it is one: `jiff::civil::Date` is `DATE`.
fn value_name(type_name: &str) -> String {
    let word = type_name.rsplit("::").next().unwrap_or_default().trim();
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word { word.to_uppercase() } else { "VALUE".to_owned() }
}

fn help(param: &ParamInfo) -> String {
    let mut notes = Vec::new();
    if param.secret {
        let variable = variable_of(param.name);
        notes.push(format!("[secret: never written down; also from {variable}]"));
    } else if let Some(default) = param.default {
        notes.push(format!("[default: {}]", default.escape_debug()));
    } else {
        notes.push("[required]".to_owned());
    }
    let doc = param.doc.trim();
    if doc.is_empty() { notes.join(" ") } else { format!("{doc} {}", notes.join(" ")) }
}

fn variable_of(name: &str) -> String {
    format!("{PARAM}{}", name.to_uppercase())
}

/// Puts the parameters that were given into the options of a run.
///
/// # Errors
/// What is wrong with one of them, in words.
pub(crate) fn read(
    task: &'static TaskInfo,
    matches: &ArgMatches,
    variables: Variables<'_>,
    mut options: RunOptions,
) -> Result<RunOptions, String> {
    let mut given: Vec<(&str, &str)> = Vec::new();
    for param in task.params {
        let value = matches.get_one::<String>(&id(param.name));
        given.extend(value.map(|value| (param.name, value.as_str())));
    }
    for text in matches.get_many::<String>("param").into_iter().flatten() {
        let (name, value) = pair(task, text)?;
        if given.iter().any(|(known, _value)| *known == name) {
            return Err(format!("parameter `{name}` is given twice"));
        }
        given.push((name, value));
    }
    for (name, value) in &given {
        options = options.param(*name, *value);
    }
    let secrets = task.params.iter().filter(|param| param.secret);
    for param in secrets.filter(|param| given.iter().all(|(name, _value)| *name != param.name)) {
        let variable = variable_of(param.name);
        if let Some(value) = variables(&variable) {
            let text = value.into_string();
            let text = text.map_err(|_secret| format!("the value of {variable} is no UTF-8"))?;
            options = options.param(param.name, text);
        }
    }
    Ok(options)
}

fn pair<'a>(task: &'static TaskInfo, text: &'a str) -> Result<(&'static str, &'a str), String> {
    // A text without `=` may be a secret; it is not repeated.
    let (name, value) =
        text.split_once('=').ok_or("`--param` wants NAME=VALUE, as in `--param task_date=x`")?;
    let names = || task.params.iter().map(|param| param.name);
    if let Some(known) = names().find(|known| *known == name || kebab(known) == name) {
        return Ok((known, value));
    }
    let shown = name.escape_debug();
    Err(match (meant(name, names()), task.params) {
        (Some(near), _) => format!("no parameter is called `{shown}`; did you mean `{near}`?"),
        (None, []) => format!("no parameter is called `{shown}`; `{}` has none", task.name),
        (None, _) => {
            format!("no parameter is called `{shown}`; there are {}", listed(names()))
        }
    })
}
