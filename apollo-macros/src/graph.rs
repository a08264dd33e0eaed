//! The law of graphs over plain names: unknown, duplicate, twice, cycle.
//!
//! It is not the compiler's judgement, which sees what tokens can't (`apollo/src/check.rs`); the
//! two are compared by a test, because each must hold where the other can't look.
//!
//! **Invariant:** no tokens, no spans: a mistake is indexes into what was given.

use std::collections::{HashMap, HashSet};

/// A step as the tokens show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its path as written.
    pub(crate) name: String,
    /// The paths of its dependencies as written.
    pub(crate) depends_on: Vec<String>,
}

/// What is wrong with a list of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A node has the name of an earlier one.
    Duplicate { node: usize },
    /// A dependency, by its index in `depends_on`, is no node.
    Unknown { node: usize, dependency: usize },
    /// A dependency, by its index in `depends_on`, was named before.
    Twice { node: usize, dependency: usize },
    /// Each depends on the next, the last on the first; the one written first comes first.
    Cycle { nodes: Vec<usize> },
}

/// Finds every mistake, by kind in the order of [`Mistake`]; of cycles at least one in every knot
/// of nodes, and no two with a node in common.
pub(crate) fn judge(nodes: &[Node]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut by_name = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        if *by_name.entry(node.name.as_str()).or_insert(index) != index {
            mistakes.push(Mistake::Duplicate { node: index });
        }
    }
    let (mut unknown, mut twice) = (Vec::new(), Vec::new());
    let mut edges = Vec::new();
    for (node, Node { depends_on, .. }) in nodes.iter().enumerate() {
        let mut targets = Vec::new();
        let mut seen = HashSet::new();
        for (dependency, name) in depends_on.iter().enumerate() {
            match by_name.get(name.as_str()) {
                None => unknown.push(Mistake::Unknown { node, dependency }),
                Some(_) if !seen.insert(name) => twice.push(Mistake::Twice { node, dependency }),
                Some(target) => targets.push(*target),
            }
        }
        edges.push(targets);
    }
    mistakes.extend(unknown.into_iter().chain(twice));
    mistakes.extend(cycles(&edges).into_iter().map(|nodes| Mistake::Cycle { nodes }));
    mistakes
}

/// Cycles of a graph, given as each node's targets: a walk in depth without recursion.
fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut in_cycle = vec![false; edges.len()];
    let mut seen = vec![false; edges.len()];
    for root in 0..edges.len() {
        let mut path: Vec<(usize, std::slice::Iter<'_, usize>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(node) = next.take()
                && !std::mem::replace(at(&mut seen, node), true)
            {
                path.push((
                    node,
                    edges.get(node).map(|targets| targets.iter()).unwrap_or_default(),
                ));
            }
            let Some((_, targets)) = path.last_mut() else { break };
            let Some(&target) = targets.next() else {
                path.pop();
                continue;
            };
            next = Some(target);
            let Some(start) = path.iter().position(|(node, _)| *node == target) else { continue };
            let mut cycle: Vec<_> = path.iter().skip(start).map(|(node, _)| *node).collect();
            if cycle.iter().any(|node| *at(&mut in_cycle, *node)) {
                continue;
            }
            cycle.iter().for_each(|node| *at(&mut in_cycle, *node) = true);
            let first = cycle.iter().enumerate().min_by_key(|(_, node)| **node);
            let turn = first.map_or(0, |(position, _)| position);
            cycle.rotate_left(turn);
            found.push(cycle);
        }
    }
    found
}

#[expect(clippy::expect_used, reason = "an edge that ends nowhere is our bug")]
fn at(flags: &mut [bool], index: usize) -> &mut bool {
    flags.get_mut(index).expect("an edge ends at a node of the graph")
}

/// A cycle as text: `a -> b -> a`.
pub(crate) fn show_cycle<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<_> = names.into_iter().collect();
    names.extend(names.first().copied());
    names.join(" -> ")
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod tests {
    use super::*;

    /// `"a: b c; b"` is a that depends on b and c, and b that depends on nothing.
    fn check(graph: &str, expected: &[Mistake]) {
        let nodes: Vec<_> = graph.split("; ").map(node).collect();
        assert_eq!(judge(&nodes), expected, "{graph}");
    }

    fn node(text: &str) -> Node {
        let (name, depends_on) = text.split_once(": ").unwrap_or((text, ""));
        let depends_on = depends_on.split_whitespace().map(str::to_owned).collect();
        Node { name: name.to_owned(), depends_on }
    }

    #[test]
    fn a_graph_without_mistakes_has_none() {
        check("a", &[]);
        check("a; b: a; c: a b; d: b c", &[]);
        check("c: b a; b: a; a", &[]);
    }

    #[test]
    fn each_mistake_is_found_once() {
        check("a; b; a", &[Mistake::Duplicate { node: 2 }]);
        check("a: x", &[Mistake::Unknown { node: 0, dependency: 0 }]);
        check("a; b: a a", &[Mistake::Twice { node: 1, dependency: 1 }]);
        check("a: a", &[Mistake::Cycle { nodes: vec![0] }]);
        check("a: c; b: a; c: b; d: c", &[Mistake::Cycle { nodes: vec![0, 2, 1] }]);
    }

    #[test]
    fn every_knot_shows_a_cycle_and_no_node_is_in_two() {
        let (first, second) = (vec![0, 1], vec![2, 3]);
        check(
            "a: b; b: a c; c: d; d: c",
            &[Mistake::Cycle { nodes: first }, Mistake::Cycle { nodes: second }],
        );
    }

    #[test]
    fn a_cycle_is_closed_in_its_text() {
        assert_eq!(show_cycle(["a", "b"]), "a -> b -> a");
        assert_eq!(show_cycle(["a"]), "a -> a");
    }
}
