//! `check`: what can be said of the tasks without running them.
//!
//! It is not the compiler's judgement, which has been passed: without it there is no program. What
//! is left are the defaults of parameters, which only their types can judge.

use serde::Serialize;

use super::exit::{Failure, USAGE};
use super::output::Screen;
use super::text::{Style, count};
use crate::policy::Need;
use crate::task::Task;

#[derive(Debug, Serialize)]
struct Checked {
    task: String,
    ok: bool,
    graph_digest: String,
    steps: usize,
    dependencies: usize,
    optional: usize,
    params: usize,
    errors: Vec<String>,
}

/// Checks the tasks.
///
/// # Errors
/// A failure when a default is refused by its type.
pub(crate) fn show(screen: &Screen, tasks: &[Task], json: bool) -> Result<(), Failure> {
    let checked: Vec<_> = tasks.iter().map(check).collect();
    if json {
        screen.json(&checked);
    } else {
        for task in &checked {
            let (style, word) = if task.ok { (Style::Good, "ok") } else { (Style::Bad, "wrong") };
            screen.line(&format!(
                "{}: {}; {}, {}, {} optional, {}",
                task.task,
                screen.palette().paint(style, word),
                count(task.steps, "step"),
                if task.dependencies == 1 {
                    "1 dependency".to_owned()
                } else {
                    format!("{} dependencies", task.dependencies)
                },
                task.optional,
                count(task.params, "parameter"),
            ));
        }
    }
    let errors: Vec<_> = checked.into_iter().flat_map(|task| task.errors).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let mut failure = Failure::new(USAGE, "a task can't run with its defaults");
    failure.details = errors.into_iter().map(|error| format!("  {error}")).collect();
    Err(failure)
}

fn check(task: &Task) -> Checked {
    let steps = task.graph().steps();
    let params = task.info().params;
    let errors: Vec<_> = params
        .iter()
        .filter_map(|param| {
            let refused = (param.normalize)(param.default?).err()?;
            let (task, name) = (task.name(), param.name);
            Some(format!(
                "`{task}`: the default of `{name}` is no `{}`: {refused}",
                param.type_name
            ))
        })
        .collect();
    Checked {
        task: task.name().to_string(),
        ok: errors.is_empty(),
        graph_digest: task.graph().digest().to_string(),
        steps: steps.len(),
        dependencies: steps.iter().map(|step| step.depends_on.len()).sum(),
        optional: steps.iter().filter(|step| step.need == Need::Optional).count(),
        params: params.len(),
        errors,
    }
}
