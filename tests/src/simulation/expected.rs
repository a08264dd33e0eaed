//! [`Expected`]: what an undisturbed run of a scenario leaves; every trial is held to it.

use super::mishap::Mishap;
use super::oracle::Outcome;
use super::scenario::Scenario;
use super::trial::{Failure, Trial};
use super::universe::Universe;

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
        let failure = |violation| Failure { trial: trial.clone(), violation, log: String::new() };
        let mut universe = Universe::of(&trial);
        let asked = universe.live(&Mishap::default()).map_err(failure)?;
        let operations = asked.operations;
        let mut outcomes = vec![universe.outcome()];
        if scenario.first.is_some() {
            let mut plain = Universe::of(&trial);
            plain.forget_wishes();
            plain.live(&Mishap::default()).map_err(failure)?;
            outcomes.push(plain.outcome());
        }
        let expected = Self { outcomes, operations };
        universe.finish(&expected.outcomes).map_err(failure)?;
        Ok(expected)
    }

    /// Lets a trial live through its mishaps and finish with a plain run.
    ///
    /// # Errors
    /// The first check that does not hold.
    pub fn hold(&self, trial: &Trial) -> Result<Outcome, Failure> {
        let mut universe = Universe::of(trial);
        let lived = trial.history.iter().try_for_each(|mishap| universe.live(mishap).map(drop));
        let finished = lived.and_then(|()| universe.finish(&self.outcomes));
        finished.map(|()| universe.outcome()).map_err(|violation| {
            let log = String::from_utf8_lossy(&universe.outcome().log.1).into_owned();
            Failure { trial: trial.clone(), violation, log }
        })
    }
}
