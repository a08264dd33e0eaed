//! The simulation in its long form: every scenario, every fault at every operation, the recoveries,
//! and as many seeds as somebody has time for.
//!
//! It prints what it tried, and where a check does not hold one line that repeats it. With
//! `--first-failure` it tries one seed of every scenario after the other, and says after how many
//! seeds which check failed.

use std::process::ExitCode;
use std::time::Instant;

use apollo_tests::simulation::{
    Expected, FAULTS, Failure, Mishap, SCENARIOS, Scenario, Trial, every_operation, every_recovery,
    every_room,
};

const USAGE: &str = "usage: simulate [--all] [--scenario NAME] [--seeds N] [--from SEED] \
                     [--seed SEED [--history MISHAP,..]] [--first-failure]";

/// What is asked for.
#[derive(Default)]
struct Args {
    scenario: Option<&'static Scenario>,
    all: bool,
    seeds: Option<u64>,
    from: u64,
    seed: Option<u64>,
    history: Option<Vec<Mishap>>,
    first_failure: bool,
}

/// What was tried.
#[derive(Default)]
struct Tally {
    points: u64,
    cuts: u64,
    seeds: u64,
}

fn main() -> ExitCode {
    let args = match parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(mistake) => {
            eprintln!("{mistake}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut tally = Tally::default();
    let tried =
        if args.first_failure { hunt(&args, &mut tally) } else { simulate(&args, &mut tally) };
    match tried {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if args.first_failure {
                let (check, scenario) = (failure.violation.check, failure.trial.scenario);
                let (check, seeds) = (check.as_str(), tally.seeds);
                println!("caught: {check} in {} after {seeds} seeds", scenario.name);
            }
            if args.seed.is_some() {
                println!("{}", failure.log);
            }
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_none| format!("{text} is no number"));
        match word.as_str() {
            "--all" => args.all = true,
            "--first-failure" => args.first_failure = true,
            "--scenario" => {
                let name = value()?;
                let named = Scenario::named(&name);
                args.scenario = Some(named.ok_or_else(|| format!("no scenario `{name}`"))?);
            }
            "--seeds" => args.seeds = Some(number(value()?)?),
            "--from" => args.from = number(value()?)?,
            "--seed" => args.seed = Some(number(value()?)?),
            "--history" => {
                let history: Result<_, String> = value()?.split(',').map(str::parse).collect();
                args.history = Some(history?);
            }
            _ => return Err(format!("`{word}` is no option")),
        }
    }
    Ok(args)
}

fn chosen(args: &Args) -> impl Iterator<Item = &'static Scenario> {
    let chosen = args.scenario.map(|scenario| scenario.name);
    SCENARIOS.iter().filter(move |scenario| chosen.is_none_or(|name| name == scenario.name))
}

/// Tries the seeds of all scenarios side by side: what only one of them shows is soon found.
fn hunt(args: &Args, tally: &mut Tally) -> Result<(), Box<Failure>> {
    let mut expected = Vec::new();
    for scenario in chosen(args) {
        expected.push((scenario, Expected::of(scenario)?));
    }
    for seed in args.from..args.from + args.seeds.unwrap_or(2_000) {
        for (scenario, expected) in &expected {
            tally.seeds += 1;
            expected.hold(&Trial::of_seed(scenario, seed, expected.operations))?;
        }
    }
    println!("{} seeds", tally.seeds);
    Ok(())
}

fn simulate(args: &Args, tally: &mut Tally) -> Result<(), Box<Failure>> {
    for scenario in chosen(args) {
        let expected = Expected::of(scenario)?;
        if let Some(seed) = args.seed {
            let mut trial = Trial::of_seed(scenario, seed, expected.operations);
            if let Some(history) = &args.history {
                trial.history.clone_from(history);
            }
            println!("{trial}");
            expected.hold(&trial)?;
            continue;
        }
        if args.all {
            enumerate(scenario, &expected, tally)?;
        }
        let began = Instant::now();
        let seeds = args.seeds.unwrap_or(2_000);
        for seed in args.from..args.from + seeds {
            expected.hold(&Trial::of_seed(scenario, seed, expected.operations))?;
            tally.seeds += 1;
        }
        let rate = seeds as f64 / began.elapsed().as_secs_f64();
        println!("{}: {seeds} seeds, {rate:.0} a second", scenario.name);
    }
    println!("{} points, {} power cuts, {} seeds", tally.points, tally.cuts, tally.seeds);
    Ok(())
}

fn enumerate(
    scenario: &'static Scenario,
    expected: &Expected,
    tally: &mut Tally,
) -> Result<(), Box<Failure>> {
    let began = Instant::now();
    let before = tally.points;
    for (_, fault) in FAULTS {
        for trial in every_operation(scenario, expected, fault, [false, true]) {
            expected.hold(&trial)?;
            tally.points += 1;
            tally.cuts += u64::from(trial.history[0].cut);
        }
    }
    for cut in [false, true] {
        for trial in every_recovery(scenario, expected, FAULTS[0].1, cut)? {
            expected.hold(&trial)?;
            tally.points += 1;
            tally.cuts += 2 * u64::from(cut);
        }
    }
    for trial in every_room(scenario, 997)? {
        expected.hold(&trial)?;
        tally.points += 1;
    }
    let points = tally.points - before;
    println!("{}: {points} points in {:.1} s", scenario.name, began.elapsed().as_secs_f64());
    Ok(())
}
