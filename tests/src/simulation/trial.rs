//! [`Trial`]: a scenario, a seed and the mishaps that a run lives through; its text repeats it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::check::Violation;
use super::draw::Draw;
use super::mishap::Mishap;
use super::oracle::Outcome;
use super::scenario::{SCENARIOS, Scenario};
use super::universe::Universe;

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
}

/// What an undisturbed run of a scenario leaves, and what it does.
#[derive(Debug, Clone)]
pub struct Expected {
    /// What it leaves: as it is asked for, and as a plain run has it.
    pub outcomes: Vec<Outcome>,
    /// How many operations it needs.
    pub operations: u64,
}

impl Expected {
    /// Runs a scenario without any mishap.
    ///
    /// # Errors
    /// The first check that does not hold all the same.
    pub fn of(scenario: &'static Scenario) -> Result<Self, Failure> {
        let trial = Trial { scenario, seed: 0, history: vec![Mishap::default()] };
        let failure = |violation| Failure { trial: trial.clone(), violation };
        let mut universe = Universe::new(scenario, &next_task_id(scenario), 0);
        let asked = universe.live(&Mishap::default()).map_err(failure)?;
        let operations = asked.operations;
        let mut outcomes = vec![universe.outcome()];
        if scenario.first.is_some() {
            let mut plain = Universe::new(scenario, &next_task_id(scenario), 0);
            plain.forget_wishes();
            plain.live(&Mishap::default()).map_err(failure)?;
            outcomes.push(plain.outcome());
        }
        let expected = Self { outcomes, operations };
        universe.finish(&expected.outcomes).map_err(failure)?;
        Ok(expected)
    }
}

impl Trial {
    /// What a seed stands for.
    pub fn of_seed(seed: u64, only: Option<&'static Scenario>, expected: &[Expected]) -> Self {
        let mut draw = Draw::new(seed);
        let quick: Vec<_> = SCENARIOS.iter().filter(|scenario| !scenario.slow).collect();
        let drawn = quick[draw.below(quick.len() as u64) as usize];
        let scenario = only.unwrap_or(drawn);
        let index = SCENARIOS.iter().position(|one| one.name == scenario.name).unwrap_or_default();
        let operations = expected[index].operations;
        let mut history = vec![Mishap::draw(&mut draw, operations)];
        while history.len() < 8 && !draw.one_in(3) {
            history.push(Mishap::draw(&mut draw, operations));
        }
        Self { scenario, seed, history }
    }

    /// Lives through the mishaps and finishes with a plain run.
    ///
    /// # Errors
    /// The first check that does not hold.
    pub fn run(&self, expected: &Expected) -> Result<Universe, Failure> {
        let mut universe = Universe::new(self.scenario, &next_task_id(self.scenario), self.seed);
        let lived = self.history.iter().try_for_each(|mishap| universe.live(mishap).map(drop));
        lived
            .and_then(|()| universe.finish(&expected.outcomes))
            .map_err(|violation| Failure { trial: self.clone(), violation })?;
        Ok(universe)
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

/// A task_id that no other universe has, always as long.
fn next_task_id(scenario: &Scenario) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{:08}", scenario.name, NEXT.fetch_add(1, Ordering::Relaxed))
}
