//! What an epoch begins with, told in the words of the fold's tests.

use super::*;
use crate::replay::tests::{fold, graph};

/// Choices in words: `from:a`, `skip:b`, `accept`, `lost:c`.
fn check(run: &str, now: &str, choices: &str, expected: &str) {
    let (mut chosen, mut lost) = (Choices::default(), Vec::new());
    for word in choices.split_whitespace() {
        let (what, who) = word.split_once(':').unwrap_or((word, ""));
        match what {
            "from" => chosen.resume_from = Some(StepId::parse(who).unwrap()),
            "skip" => chosen.skip.push(StepId::parse(who).unwrap()),
            "accept" => chosen.accept_changes = true,
            "lost" => lost.push(who),
            _ => panic!("no such choice: {word}"),
        }
    }
    let state = if run.is_empty() { RunState::default() } else { fold(run).unwrap() };
    let graph = graph(now);
    let mut find_loss =
        |step: &StepState| lost.contains(&step.id.as_str()).then(|| "it is gone".to_owned());
    let seen = match open(&graph, &state, &chosen, &mut find_loss) {
        Ok(opening) => {
            let names = |steps: &[StepIndex]| {
                steps.iter().map(|at| graph.step(*at).id.to_string()).collect::<Vec<_>>().join(",")
            };
            let rerun: Vec<_> = opening.rerun.iter().map(StepId::as_str).collect();
            let skips: Vec<_> = opening.skips.keys().copied().collect();
            let runs: Vec<_> = opening.runs.iter().copied().collect();
            format!(
                "{:?} runs {} rerun {} skips {}",
                opening.reason,
                names(&runs),
                rerun.join(","),
                names(&skips)
            )
        }
        Err(refusal) => refusal.to_string(),
    };
    assert_eq!(seen.trim_end(), expected, "{run} => {now} ({choices})");
}

const HALF: &str = "open a b*<a c*<b; a start; a ok; b start; b fail; close fail";
const DONE: &str = "open a b*<a c; a start; a ok; b start; b ok; c start; c ok; close ok";

#[test]
fn what_is_not_finished_runs() {
    check("", "a b<a", "", "Start runs a,b rerun  skips");
    check(HALF, "a b*<a c*<b", "", "Resume runs b,c rerun  skips");
}

#[test]
fn resume_from_runs_descendants_again_and_skips_unfinished_ancestors() {
    check(DONE, "a b*<a c", "from:a", "ResumeFrom runs a,b rerun a,b skips");
    check(DONE, "a b*<a c", "from:b", "ResumeFrom runs b rerun b skips");
    check("open a b<a c<b", "a b<a c<b", "from:c", "ResumeFrom runs c rerun  skips a,b");
    check(
        "open a b*<a",
        "a b*<a",
        "from:b",
        "`b` needs the output of `a`, which is skipped and never produced one",
    );
    check(DONE, "a b*<a c", "from:x", "`x` is no step of the task; its steps are a, b, c");
}

#[test]
fn a_skipped_step_is_left_out_unless_it_is_finished_or_needed() {
    check("", "a b<a", "skip:a", "Start runs b rerun  skips a");
    check(HALF, "a b*<a c*<b", "skip:c", "Resume runs b rerun  skips c");
    check(HALF, "a b*<a c*<b", "skip:a", "Resume runs b,c rerun  skips");
    check(
        "",
        "a b*<a",
        "skip:a",
        "`b` needs the output of `a`, which is skipped and never produced one",
    );
}

#[test]
fn a_lost_output_that_is_needed_is_made_again() {
    check(HALF, "a b*<a c*<b", "lost:a", "Rerun runs a,b,c rerun a skips");
    // Nobody reads it any more.
    check(
        "open a b<a c<b; a start; a ok; b start; b ok; c start; c fail",
        "a b<a c<b",
        "lost:a",
        "Resume runs c rerun  skips",
    );
    // What it is made of is lost, too.
    let three = "open a b*<a c*<b; a start; a ok; b start; b ok; c start; c fail";
    check(three, "a b*<a c*<b", "lost:b lost:a", "Rerun runs a,b,c rerun a,b skips");
}

#[test]
fn changes_wait_for_consent() {
    let refused = "the graph differs from the one that the run was begun with";
    check(HALF, "a b*<a", "", refused);
    check(HALF, "a b*<a", "accept", "Resume runs b rerun  skips");
    check(HALF, "a!2 b*<a c*<b", "", refused);
    check(HALF, "a!2 b*<a c*<b", "accept", "Rerun runs a,b,c rerun a skips");
}
