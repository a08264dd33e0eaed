//! `graph`: a task's steps and what each depends on, as a drawing.
//!
//! It is not the state of a run: that is `inspect`.
//!
//! As text, a step stands below the dependency that comes last in the order of work, and names the
//! others; a step that follows alone is not indented, so that a long chain stays narrow.

use serde::Serialize;

use super::environment::is_utf8;
use super::exit::Failure;
use super::output::Screen;
use super::text::count;
use crate::graph::Graph;
use crate::id::StepIndex;
use crate::policy::Need;
use crate::task::Task;

/// The strokes of a drawing.
#[derive(Debug, Clone, Copy)]
struct Strokes {
    branch: &'static str,
    last: &'static str,
    pass: &'static str,
    alone: &'static str,
}

const ASCII: Strokes = Strokes { branch: "|- ", last: "`- ", pass: "|  ", alone: "-> " };
const LINES: Strokes = Strokes {
    branch: "\u{251c}\u{2500} ",
    last: "\u{2514}\u{2500} ",
    pass: "\u{2502}  ",
    alone: "\u{2193}  ",
};

#[derive(Debug, Serialize)]
struct Drawn {
    task: String,
    steps: Vec<DrawnStep>,
}

#[derive(Debug, Serialize)]
struct DrawnStep {
    id: String,
    depends_on: Vec<String>,
    optional: bool,
}

/// Draws a task.
///
/// # Errors
/// None; the signature is that of every command.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of every command")]
pub(crate) fn show(screen: &Screen, task: &Task, mermaid: bool, json: bool) -> Result<(), Failure> {
    let graph = task.graph();
    if json {
        let id = |index: &StepIndex| graph.step(*index).id.to_string();
        let steps = graph.steps().iter().map(|step| DrawnStep {
            id: step.id.to_string(),
            depends_on: step.depends_on.iter().map(id).collect(),
            optional: step.need == Need::Optional,
        });
        screen.json(&Drawn { task: task.name().to_string(), steps: steps.collect() });
    } else if mermaid {
        screen.lines(&as_mermaid(graph));
    } else {
        screen.line(&format!("{}: {}", task.name(), count(graph.len(), "step")));
        screen.lines(&as_text(graph, if is_utf8() { LINES } else { ASCII }));
    }
    Ok(())
}

fn as_text(graph: &Graph, strokes: Strokes) -> Vec<String> {
    let mut place = vec![0; graph.len()];
    for (at, step) in graph.topological().iter().enumerate() {
        if let Some(place) = place.get_mut(step.get()) {
            *place = at;
        }
    }
    let place_of = |step: &StepIndex| place.get(step.get()).copied().unwrap_or(0);
    let parent = |step: StepIndex| graph.step(step).depends_on.iter().copied().max_by_key(place_of);
    let mut children = vec![Vec::new(); graph.len()];
    let mut open = Vec::new();
    for step in graph.topological() {
        match parent(*step).and_then(|parent| children.get_mut(parent.get())) {
            Some(children) => children.push(*step),
            None => open.push((*step, String::new(), String::new())),
        }
    }
    open.reverse();
    let mut lines = Vec::with_capacity(graph.len());
    while let Some((step, before, indent)) = open.pop() {
        lines.push(format!("{before}{}{}", graph.step(step).id, remark(graph, step, parent(step))));
        let children = children.get(step.get()).map_or(&[][..], Vec::as_slice);
        let last = children.len().saturating_sub(1);
        for (number, child) in children.iter().enumerate().rev() {
            open.push(match (last, number == last) {
                (0, _) => (*child, format!("{indent}{}", strokes.alone), indent.clone()),
                (_, true) => (*child, format!("{indent}{}", strokes.last), format!("{indent}   ")),
                (_, false) => {
                    let below = format!("{indent}{}", strokes.pass);
                    (*child, format!("{indent}{}", strokes.branch), below)
                }
            });
        }
    }
    lines
}

/// What the place of a step in the drawing does not show.
fn remark(graph: &Graph, step: StepIndex, parent: Option<StepIndex>) -> String {
    let node = graph.step(step);
    let others = node.depends_on.iter().filter(|on| Some(**on) != parent);
    let others: Vec<_> = others.map(|on| graph.step(*on).id.as_str()).collect();
    let optional = (node.need == Need::Optional).then(|| "optional".to_owned());
    let also = (!others.is_empty()).then(|| format!("also after {}", others.join(", ")));
    let remarks: Vec<_> = optional.into_iter().chain(also).collect();
    if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) }
}

fn as_mermaid(graph: &Graph) -> Vec<String> {
    let mut lines = vec!["flowchart TD".to_owned()];
    for (index, step) in graph.indices().zip(graph.steps()) {
        let (number, id) = (index.0, &step.id);
        lines.push(match step.need {
            Need::Required => format!("    s{number}[\"{id}\"]"),
            Need::Optional => format!("    s{number}([\"{id} (optional)\"])"),
        });
    }
    for (index, step) in graph.indices().zip(graph.steps()) {
        for on in &step.depends_on {
            let arrow = match graph.step(*on).need {
                Need::Required => "-->",
                Need::Optional => "-.->",
            };
            lines.push(format!("    s{} {arrow} s{}", on.0, index.0));
        }
    }
    lines
}

#[cfg(test)]
mod tests;
