use super::super::sample::daily;
use super::*;
use crate::graph::GraphStep;
use crate::id::StepId;

/// A graph of lines `step: dependency dependency`, each step after its dependencies.
fn graph(lines: &str) -> Graph {
    let sample = daily().graph().step(StepIndex(0)).clone();
    let mut steps: Vec<GraphStep> = Vec::new();
    for line in lines.lines() {
        let (id, on) = line.trim().split_once(':').unwrap();
        let index = |on: &str| steps.iter().position(|step| step.id.as_str() == on).unwrap();
        let depends_on: Vec<_> =
            on.split_whitespace().map(|on| StepIndex(u32::try_from(index(on)).unwrap())).collect();
        let needs_value = vec![false; depends_on.len()];
        let id = StepId::parse(id).unwrap();
        steps.push(GraphStep { id, depends_on, needs_value, ..sample.clone() });
    }
    Graph::new(steps).unwrap()
}

fn check(graph: &Graph, expected: &str) {
    let expected: Vec<_> = expected.trim_matches('\n').lines().collect();
    assert_eq!(as_text(graph, ASCII), expected);
}

#[test]
fn a_diamond() {
    check(
        daily().graph(),
        "
fetch
|- left
`- right (optional)
   -> join (also after left)
",
    );
}

#[test]
fn a_chain_stays_narrow() {
    check(&graph("a:\nb: a\nc: b\nd: c"), "a\n-> b\n-> c\n-> d");
}

#[test]
fn a_wide_graph_with_two_roots() {
    check(
        &graph("a:\nb:\nc: a\nd: a\ne: a\nf: d\ng: d\nh: c f e\ni: b"),
        "
a
|- c
|- d
|  |- f
|  |  -> h (also after c, e)
|  `- g
`- e
b
-> i
",
    );
}

#[test]
fn mermaid_marks_what_is_optional() {
    let expected = "flowchart TD
    s0[\"fetch\"]
    s1[\"left\"]
    s2([\"right (optional)\"])
    s3[\"join\"]
    s0 --> s1
    s0 --> s2
    s1 --> s3
    s2 -.-> s3";
    assert_eq!(as_mermaid(daily().graph()).join("\n"), expected);
}
