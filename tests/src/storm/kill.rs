//! SIGKILL from outside at random moments, until the work is done in spite of it.

use std::fmt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::judged::Judged;
use super::repeat::Repeat;
use super::undisturbed::Undisturbed;
use crate::child::said;
use crate::dir::{Dir, test_root};
use crate::log::Log;
use crate::simulation::Draw;

/// What the kills met.
#[derive(Debug, Default)]
pub struct Kills {
    kills: u64,
    rounds: u64,
    before_a_log: u64,
    torn_tails: usize,
    interrupted: usize,
    given_up: u32,
    most_epochs: usize,
    judged: String,
}

impl fmt::Display for Kills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, rounds, before_a_log, torn_tails, interrupted, given_up, .. } = self;
        let Self { most_epochs, judged, .. } = self;
        write!(
            f,
            "{kills} kills in {rounds} runs of 30 steps: {before_a_log} before there was a log, \
             {interrupted} attempts interrupted, {torn_tails} torn tails, {given_up} times a step \
             was given up and tried again, at most {most_epochs} epochs in a run; each ended like \
             an undisturbed one; {judged}"
        )
    }
}

/// Kills the work on thirty steps so often, in as many runs of it as that takes.
///
/// # Panics
/// When a run does not end like an undisturbed one.
pub fn storm(program: &str, kills: u64, seed: u64) -> Kills {
    let undisturbed = Undisturbed::thirty(program, &test_root());
    let mut met = Kills::default();
    let mut judged = Judged::default();
    for seed in seed.. {
        if met.kills >= kills {
            break;
        }
        let _repeat = Repeat::new(format!("kill {kills} {seed}"));
        judged.add(met.round(&undisturbed, kills, seed));
    }
    met.judged = judged.finish();
    met
}

impl Kills {
    /// One run, from its begin to its end.
    fn round(&mut self, undisturbed: &Undisturbed<'_>, most: u64, seed: u64) -> Dir {
        let mut draw = Draw::new(seed);
        let dir = Dir::new("kill");
        self.rounds += 1;
        let took_us = u64::try_from(undisturbed.took.as_micros()).unwrap_or(u64::MAX);
        while self.kills < most {
            // Mostly early, so that a run is met again and again, recovery included.
            let longest_us = if draw.one_in(4) { took_us } else { took_us / 4 };
            let moment = Duration::from_micros(draw.below(longest_us.max(1)));
            let mut child = undisturbed.command(&dir).spawn().expect("a program that starts");
            if ends_within(&mut child, moment).is_none() {
                drop(child.kill());
            }
            let ended = child.wait_with_output().expect("a child that ends");
            match ended.status.code() {
                Some(0) => break,
                Some(1) if said(&ended).contains("given up") => self.given_up += 1,
                None => {
                    self.kills += 1;
                    self.before_a_log += u64::from(dir.logs().is_empty());
                }
                code => panic!("the plain command ends with {code:?}: {}", said(&ended)),
            }
        }
        self.given_up += undisturbed.finish(&dir);
        undisturbed.check(&dir);
        let log = Log::read(&dir.only_log());
        let interrupted = |one: &&serde_json::Value| one["detail"]["reason"] == "interrupted";
        self.interrupted += log.records.iter().filter(interrupted).count();
        self.most_epochs = self.most_epochs.max(log.headers().len());
        self.torn_tails += dir.torn_tails();
        dir
    }
}

/// The end of a process, where it comes in time.
fn ends_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        let ended = child.try_wait().expect("a child of this process");
        let left = time.checked_sub(began.elapsed());
        let (None, Some(left)) = (ended, left) else { return ended };
        std::thread::park_timeout(left.min(Duration::from_micros(300)));
    }
}
