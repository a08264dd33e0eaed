//! [`Trial`]: a scenario, a seed and the mishaps that a run lives through; its text repeats it.

use std::fmt;

use super::check::Violation;
use super::draw::Draw;
use super::mishap::Mishap;
use super::scenario::Scenario;

/// What is tried: a scenario, and what goes wrong in it.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The scenario.
    pub scenario: &'static Scenario,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// What happens to one process after the other, before the plain run that finishes.
    pub history: Vec<Mishap>,
}

/// A trial in which a check did not hold.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The trial.
    pub trial: Trial,
    /// The check.
    pub violation: Violation,
    /// The log as it was then.
    pub log: String,
}

impl Trial {
    /// What a seed stands for, in a scenario that needs so many operations.
    pub fn of_seed(scenario: &'static Scenario, seed: u64, operations: u64) -> Self {
        let mut draw = Draw::new(seed);
        let mut history = vec![Mishap::draw(&mut draw, operations)];
        while history.len() < 8 && !draw.one_in(3) {
            history.push(Mishap::draw(&mut draw, operations));
        }
        Self { scenario, seed, history }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let history: Vec<_> = self.history.iter().map(ToString::to_string).collect();
        let (scenario, seed, history) = (self.scenario.name, self.seed, history.join(","));
        write!(f, "simulate --scenario {scenario} --seed {seed} --history {history}")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nrepeat it: {}", self.violation, self.trial)
    }
}
