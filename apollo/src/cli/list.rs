//! `list`: the tasks of this program, with parameters and steps.
//!
//! It is not what became of them: that is `inspect`.

use serde::Serialize;

use super::exit::Failure;
use super::output::Screen;
use super::parameters::kebab;
use super::text::{Cell, Style, count, table};
use crate::policy::Need;
use crate::task::Task;

#[derive(Debug, Serialize)]
struct Listed {
    task: String,
    doc: &'static str,
    params: Vec<ListedParam>,
    steps: Vec<ListedStep>,
}

#[derive(Debug, Serialize)]
struct ListedParam {
    name: &'static str,
    #[serde(rename = "type")]
    type_name: &'static str,
    doc: &'static str,
    default: Option<&'static str>,
    secret: bool,
}

#[derive(Debug, Serialize)]
struct ListedStep {
    id: String,
    depends_on: Vec<String>,
    optional: bool,
}

/// Prints the tasks.
///
/// # Errors
/// None; the signature is that of every command.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of every command")]
pub(crate) fn show(screen: &Screen, tasks: &[Task], json: bool) -> Result<(), Failure> {
    let listed: Vec<_> = tasks.iter().map(describe).collect();
    if json {
        screen.json(&listed);
        return Ok(());
    }
    for (number, task) in listed.iter().enumerate() {
        if number > 0 {
            screen.line("");
        }
        screen.lines(&render(task));
    }
    Ok(())
}

fn describe(task: &Task) -> Listed {
    let graph = task.graph();
    let id = |index: &_| graph.step(*index).id.to_string();
    let step = |step: &crate::graph::GraphStep| ListedStep {
        id: step.id.to_string(),
        depends_on: step.depends_on.iter().map(id).collect(),
        optional: step.need == Need::Optional,
    };
    let param = |param: &crate::task::ParamInfo| ListedParam {
        name: param.name,
        type_name: param.type_name,
        doc: param.doc.trim(),
        default: param.default,
        secret: param.secret,
    };
    Listed {
        task: task.name().to_string(),
        doc: task.info().doc.trim(),
        params: task.info().params.iter().map(param).collect(),
        steps: graph.steps().iter().map(step).collect(),
    }
}

fn render(task: &Listed) -> Vec<String> {
    let doc = task.doc.lines().next().unwrap_or_default();
    let mut lines =
        vec![if doc.is_empty() { task.task.clone() } else { format!("{}: {doc}", task.task) }];
    let params = task.params.iter().map(|param| {
        let note = match (param.default, param.secret) {
            (_, true) => "secret".to_owned(),
            (Some(default), false) => format!("default {default}"),
            (None, false) => "required".to_owned(),
        };
        vec![
            Cell::plain(&format!("  --{}", kebab(param.name))),
            Cell::plain(param.type_name),
            Cell::plain(&note),
            Cell::new(param.doc.lines().next().unwrap_or_default(), Style::Plain),
        ]
    });
    lines.extend(table(&params.collect::<Vec<_>>(), super::text::Palette::PLAIN));
    lines.push(format!("  {}", count(task.steps.len(), "step")));
    let steps = task.steps.iter().map(|step| {
        let after = match step.depends_on.as_slice() {
            [] => String::new(),
            all => format!("after {}", all.join(", ")),
        };
        let optional = if step.optional { "optional" } else { "" };
        vec![Cell::plain(&format!("    {}", step.id)), Cell::plain(optional), Cell::plain(&after)]
    });
    lines.extend(table(&steps.collect::<Vec<_>>(), super::text::Palette::PLAIN));
    lines
}
