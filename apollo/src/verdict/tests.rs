//! The verdicts on a changed graph, told in the words of the fold's tests.

use super::*;
use crate::replay::tests::{fold, graph};

/// Compares a graph with a run; each verdict is `id verdict`, with `!` where it needs consent.
fn check(run: &str, now: &str, expected: &str) {
    let comparison = Comparison::new(&graph(now), &fold(run).unwrap());
    let tell = |verdict: &StepVerdict| {
        format!(
            "{} {}{}",
            verdict.id,
            verdict.verdict,
            if verdict.needs_consent { "!" } else { "" }
        )
    };
    let seen: Vec<_> = comparison.verdicts.iter().map(tell).collect();
    assert_eq!(seen.join(", "), expected, "{run} => {now}");
    let asks = comparison.verdicts.iter().any(|verdict| verdict.needs_consent);
    assert_eq!(comparison.needs_consent(), asks);
}

const DONE: &str = "open a b<a c<b; a start; a ok; b start; b fail; close fail";

#[test]
fn what_did_not_change_is_kept() {
    check(DONE, "a b<a c<b", "a kept, b kept, c kept");
    // Order and need of consent: a new order of declaration is no change.
    check(DONE, "a c<b b<a", "a kept, c kept, b kept");
}

#[test]
fn unfinished_steps_may_be_added_or_changed() {
    check(DONE, "a b<a c<b d<c", "a kept, b kept, c kept, d added");
    check(DONE, "a b c<b", "a kept, b changed, c kept");
}

#[test]
fn a_finished_step_that_changed_and_an_unfinished_one_that_vanished_need_consent() {
    check("open a b; b start; b ok", "a b<a", "a kept, b changed!");
    check(DONE, "a b<a", "a kept, b kept, c removed!");
    check(DONE, "b c<b", "b changed, c kept, a removed");
    check(DONE, "a!2 b<a c<b", "a rerun!, b kept, c kept");
}

#[test]
fn a_renamed_step_is_followed_and_its_dependents_did_not_change() {
    check(DONE, "x=a b<x c<b", "x renamed, b kept, c kept");
    // Both names at once: it is a new step.
    check(DONE, "a x=a b<a c<b", "a kept, x added, b kept, c kept");
    // Renamed and changed is changed.
    check("open a b; a start; a ok", "x=a<b b", "x changed!, b kept");
}
