//! Planted faults: breaks the protocol in one place after the other, and sees to it that the suite
//! notices each of them.
//!
//! It judges the suite, not the product: before it believes anything, the unbroken sources have to
//! pass. What it builds is in `target/mutants`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use apollo_tests::mutants::{Judge, Mutant, Verdict, Workshop};

const USAGE: &str = "usage: mutants [--list] [--seeds N] [PART OF A NAME]..";

/// What is asked for.
struct Args {
    list: bool,
    /// How many seeds of each scenario the simulation tries before it gives up.
    seeds: u64,
    parts: Vec<String>,
}

fn main() -> ExitCode {
    let args = match parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(mistake) => {
            eprintln!("{mistake}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match hunt(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(mistake) => {
            eprintln!("{mistake}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { list: false, seeds: 200, parts: Vec::new() };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => args.list = true,
            "--seeds" => {
                let seeds = words.next().and_then(|seeds| seeds.parse().ok());
                args.seeds = seeds.ok_or("--seeds needs a number")?;
            }
            option if option.starts_with('-') => return Err(format!("`{option}` is no option")),
            part => args.parts.push(part.to_owned()),
        }
    }
    Ok(args)
}

/// Tells whether every mutant that was asked for was caught.
fn hunt(args: &Args) -> Result<bool, String> {
    let mut mutants = Mutant::all()?;
    mutants.retain(|mutant| {
        args.parts.is_empty() || args.parts.iter().any(|part| mutant.name.contains(part.as_str()))
    });
    if args.list {
        mutants.iter().for_each(|mutant| println!("{:<WIDTH$} {}", mutant.name, mutant.why));
        return Ok(true);
    }
    let began = Instant::now();
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = exe.ancestors().nth(2).ok_or("this program is in no target directory")?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    let workshop = Workshop::open(workspace, &target.join("mutants"))?;
    for judge in mutants.iter().map(|mutant| &mutant.judge).collect::<BTreeSet<&Judge>>() {
        let verdict = workshop.ask(judge, args.seeds)?;
        if verdict != Verdict::Passed {
            return Err(format!("nothing is broken, and {judge} says: {verdict}"));
        }
    }
    println!("the unbroken sources pass ({} s)", began.elapsed().as_secs());
    let (mut caught, mut mistakes) = (0, Vec::new());
    for mutant in &mutants {
        let began = Instant::now();
        let verdict = workshop.judge(mutant, args.seeds).unwrap_or_else(|mistake| {
            mistakes.push(format!("{}: {mistake}", mutant.name));
            Verdict::Passed
        });
        caught += usize::from(verdict != Verdict::Passed);
        println!("{:<WIDTH$} {verdict} ({} s)", mutant.name, began.elapsed().as_secs());
    }
    println!("{caught} of {} caught in {} s", mutants.len(), began.elapsed().as_secs());
    if mistakes.is_empty() { Ok(caught == mutants.len()) } else { Err(mistakes.join("\n")) }
}

/// As wide as the longest name.
const WIDTH: usize = 38;
