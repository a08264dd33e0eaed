//! Enumerations: every operation, every operation of a recovery, every byte of a tail, as trials.
//!
//! They are not drawn: each of them is tried, and their number is the proof's.

use apollo::testing::Fault;

use super::expected::Expected;
use super::mishap::Mishap;
use super::scenario::Scenario;
use super::trial::{Failure, Trial};
use super::universe::Universe;

/// Every operation of a scenario meets a fault; the power goes afterwards or it does not.
pub fn every_operation(
    scenario: &'static Scenario,
    expected: &Expected,
    fault: Fault,
    cuts: impl IntoIterator<Item = bool> + Clone,
) -> impl Iterator<Item = Trial> {
    (1..=expected.operations).flat_map(move |at| {
        let mishap = Mishap::at(fault, at);
        let histories = cuts.clone().into_iter().map(move |cut| vec![Mishap { cut, ..mishap }]);
        histories.map(move |history| Trial { scenario, seed: at, history })
    })
}

/// At every operation of a scenario the process is killed, and then the one that recovers from that
/// at every operation of its recovery, up to the first one behind it.
///
/// # Errors
/// The first check that does not hold while the recoveries are counted.
pub fn every_recovery(
    scenario: &'static Scenario,
    expected: &Expected,
    fault: Fault,
    cut: bool,
) -> Result<Vec<Trial>, Failure> {
    let mut trials = Vec::new();
    for at in 1..=expected.operations {
        let died = Mishap { cut, ..Mishap::at(Fault::KillTorn, at) };
        let counted = Trial { scenario, seed: at, history: vec![died, Mishap::default()] };
        let failure = |violation| Failure { trial: counted.clone(), violation, log: String::new() };
        let mut universe = Universe::of(&counted);
        universe.live(&died).map_err(failure)?;
        let recovered = universe.live(&Mishap::default()).map_err(failure)?;
        let recovery = recovered.opened_at.unwrap_or(recovered.operations) + 1;
        trials.extend((1..=recovery).map(|again| {
            let history = vec![died, Mishap { cut, ..Mishap::at(fault, again) }];
            Trial { scenario, seed: at, history }
        }));
    }
    Ok(trials)
}

/// Every amount of room, in steps of so many bytes, up to one that is enough.
///
/// # Errors
/// The first check that does not hold while the runs are tried.
pub fn every_room(scenario: &'static Scenario, step_bytes: u64) -> Result<Vec<Trial>, Failure> {
    let mut trials = Vec::new();
    for room_bytes in (0..).step_by(step_bytes as usize) {
        let mishap = Mishap { room_bytes: Some(room_bytes), ..Mishap::default() };
        let trial = Trial { scenario, seed: room_bytes, history: vec![mishap] };
        let failure = |violation| Failure { trial: trial.clone(), violation, log: String::new() };
        let ended = Universe::of(&trial).live(&mishap).map_err(failure)?;
        trials.push(trial);
        if ended.succeeded() {
            break;
        }
    }
    Ok(trials)
}
