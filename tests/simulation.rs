//! The production engine on a simulated disk: every operation killed, failed and cut off, every
//! recovery killed, and seeds.
//!
//! The story of the bug: whoever tests crashes by killing processes never loses what was written
//! and not synced. Here the power goes, and the disk shows what it really had. The long form is the
//! program `simulate`, which also prints how to repeat a failure.

use apollo::testing::Fault;
use apollo_tests::dir::Dir;
use apollo_tests::log::judge;
use apollo_tests::simulation::{
    Expected, FAULTS, Failure, Outcome, SCENARIOS, Scenario, Trial, every_operation,
    every_recovery, every_room,
};

/// The scenarios that are tried at each operation.
const SMALL: [&str; 5] = ["chain", "diamond", "retry", "optional", "batch"];

/// How many logs the independent reader is given; it takes a moment for each.
const JUDGED: usize = 100;

fn small() -> impl Iterator<Item = &'static Scenario> {
    SMALL.iter().map(|name| Scenario::named(name).expect("a scenario"))
}

fn expected(scenario: &'static Scenario) -> Expected {
    Expected::of(scenario).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Holds each trial, and lets the independent reader judge some of the logs that are left.
fn hold(word: &str, expected: &Expected, trials: Vec<Trial>) -> usize {
    let dir = Dir::new(word);
    let (count, mut logs) = (trials.len(), Vec::new());
    for (n, trial) in trials.iter().enumerate() {
        let outcome = held(expected, trial);
        if n % (count / JUDGED + 1) == 0 {
            let path = dir.path().join(format!("{n}.jsonl"));
            std::fs::write(&path, outcome.log.1).unwrap();
            logs.push(path);
        }
    }
    judge(&logs);
    count
}

fn held(expected: &Expected, trial: &Trial) -> Outcome {
    expected.hold(trial).unwrap_or_else(|failure: Failure| panic!("{failure}\n{}", failure.log))
}

/// Every operation of the small scenarios meets a fault; afterwards the power goes, or it does not.
fn every(word: &str) {
    let (_, fault) = *FAULTS.iter().find(|(known, _)| *known == word).expect("a fault");
    let mut points = 0;
    for scenario in small() {
        let expected = expected(scenario);
        let trials = every_operation(scenario, &expected, fault, [false, true]).collect();
        points += hold(word, &expected, trials);
    }
    println!("{word}: {points} points, every second one with a power cut");
    assert!(points > 300, "{points}");
}

#[test]
fn killed_at_every_operation() {
    every("kill");
}

#[test]
fn killed_in_the_middle_of_every_operation() {
    every("torn");
}

#[test]
fn an_io_error_at_every_operation() {
    every("eio");
}

#[test]
fn a_full_disk_at_every_operation() {
    every("enospc");
}

#[test]
fn a_short_write_at_every_operation() {
    every("short");
}

#[test]
fn a_recovery_killed_at_every_operation() {
    let mut points = 0;
    for scenario in small() {
        let expected = expected(scenario);
        // The recovery from every third death is killed at each of its operations, and the power
        // goes at every second one of them. The long form leaves none out.
        let mut trials = Vec::new();
        for cut in [false, true] {
            let all = every_recovery(scenario, &expected, Fault::Kill, cut);
            let all = all.unwrap_or_else(|failure| panic!("{failure}"));
            let some = all.into_iter().filter(|trial| trial.seed % 3 == 0);
            trials.extend(some.skip(usize::from(cut)).step_by(2));
        }
        points += hold("recovery", &expected, trials);
    }
    println!("{points} recoveries killed");
}

#[test]
fn a_disk_with_too_little_room_for_the_whole_run() {
    for scenario in small() {
        let expected = expected(scenario);
        let rooms = every_room(scenario, 7_919).unwrap_or_else(|failure| panic!("{failure}"));
        println!("{}: {} amounts of room", scenario.name, hold("room", &expected, rooms));
    }
}

#[test]
fn two_thousand_seeds() {
    let quick: Vec<_> = SCENARIOS.iter().filter(|scenario| !scenario.slow).collect();
    let each = 2_000_usize.div_ceil(quick.len());
    for scenario in quick {
        let expected = expected(scenario);
        let seeds = 0..each as u64;
        let trials = seeds.map(|seed| Trial::of_seed(scenario, seed, expected.operations));
        hold("seeds", &expected, trials.collect());
    }
}
