//! The long storms, and the pipelines that they blow over.
//!
//! `storm race 500`, `storm kill 300`: see [`USAGE`]. Given anything else, it is the command line
//! of its pipelines, as which a storm starts it again and again.

use std::process::{Command, ExitCode};

use apollo_tests::pipelines::scripted::row;
use apollo_tests::pipelines::thirty::{thirty, three};
use apollo_tests::storm::machine::{Kind, NAMESPACE};
use apollo_tests::storm::power::Points;
use apollo_tests::storm::{inject, kill, power, race};

const USAGE: &str = "\
usage: storm race TIMES [SEED]
       storm kill KILLS [SEED]
       storm strace [CALL [NUMBER]]
       storm cut ext4|xfs [CUTS [SEED] | at OPERATION [OPERATION]]";

/// A call so far behind another one is none of a run's.
const NO_MORE: usize = 1 << 20;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let program = std::env::current_exe().expect("a program knows its own file");
    let program = program.to_str().expect("a path in UTF-8");
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["race", times, rest @ ..] => {
            println!("{}", race::race(program, number(times), seed(rest)));
        }
        ["kill", kills, rest @ ..] => {
            println!("{}", kill::storm(program, number(kills), seed(rest)));
        }
        ["strace"] => println!("{}", inject::inject(program, &inject::CALLS, 1, 1)),
        ["strace", call] => println!("{}", inject::inject(program, &[call], 1, 1)),
        ["strace", call, number] => {
            let number = number.parse().unwrap_or_else(|_| panic!("{USAGE}"));
            println!("{}", inject::inject(program, &[call], number, NO_MORE));
        }
        ["cut", rest @ ..] => {
            let mut inside = Command::new(NAMESPACE[0]);
            inside.args(&NAMESPACE[1..]).args([program, "cut-inside"]).args(rest);
            let code = inside.status().ok().and_then(|ended| ended.code());
            // What breaks a promise panics, and that is another code.
            if matches!(code, None | Some(1)) {
                println!("no power cuts on this machine: it gives no mount namespace");
                return ExitCode::SUCCESS;
            }
            return ExitCode::from(u8::from(code != Some(0)));
        }
        ["cut-inside", kind, rest @ ..] => {
            let kind = Kind::parse(kind).unwrap_or_else(|| panic!("{USAGE}"));
            match power::storm(program, kind, points(rest)) {
                Ok(cuts) => println!("{cuts}"),
                Err(why) => println!("{}: no power cuts on this machine: {why}", kind.name()),
            }
        }
        _ => return apollo::command_line(vec![row(), three(), thirty()], std::env::args_os()),
    }
    ExitCode::SUCCESS
}

fn points(rest: &[&str]) -> Points {
    match rest {
        [] | ["all"] => Points::All,
        ["at", at] => Points::At(number(at), None),
        ["at", at, again] => Points::At(number(at), Some(number(again))),
        [cuts, rest @ ..] => Points::Evenly(number(cuts), seed(rest)),
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{USAGE}"))
}

fn seed(rest: &[&str]) -> u64 {
    rest.first().map_or(0, |seed| number(seed))
}
