//! The protocol, not the code: every order in which two processes, their bodies, kills, a power cut
//! and a failed sync can meet over one directory and three steps.
//!
//! The story of the bug: each rule of the protocol looks like a precaution until the one order of
//! events is found in which it is needed. So each rule is left out once, and that order must be
//! found; with all of them there must be none.

mod epoch;
mod log;
mod protocol;

use std::collections::{BTreeSet, HashMap};

use protocol::{Faults, Process, Protocol, Rule, State};
use stateright::{Checker as _, HasDiscoveries, Model as _, Property};

const ONE_SUCCESS: &str = "a success is recorded exactly once";
const DONE_ONCE: &str = "what is recorded as done is not done again";
const START_FIRST: &str = "a body begins after its durable STEP_START";
const NEEDS_FIRST: &str = "a dependent begins after the durable STEP_ENDs of what it needs";
const NOTHING_LOST: &str = "an acknowledged record is never lost";
const ONE_AT_A_TIME: &str = "two processes never work on one run";
const ONE_RUN: &str = "two that start at once share one run";
const NOTHING_LATE: &str = "an old attempt writes nothing after the new STEP_START";
const FINISHES: &str = "it can finish after all faults";

/// All that may go wrong in one run of the model.
const FAULTS: Faults = faults(3, 1, 1);

const fn faults(kills: u8, power_cuts: u8, failed_syncs: u8) -> Faults {
    Faults { kills, power_cuts, failed_syncs }
}

/// What must hold; the model asks for it.
fn properties() -> Vec<Property<Protocol>> {
    vec![
        Property::always(ONE_SUCCESS, |_, state: &State| {
            let of_all =
                |step: usize| state.logs.iter().map(|log| log.fold().successes[step]).sum();
            let times: [u8; 3] = [0, 1, 2].map(of_all);
            times.iter().all(|times| *times <= 1) && (times == [1; 3] || !state.is_finished())
        }),
        Property::always(DONE_ONCE, |_, state: &State| !state.seen.body_of_a_done_step),
        Property::always(START_FIRST, |_, state: &State| !state.seen.body_without_start),
        Property::always(NEEDS_FIRST, |_, state: &State| !state.seen.body_without_needs),
        Property::always(NOTHING_LOST, |_, state: &State| !state.seen.lost_record),
        Property::always(ONE_AT_A_TIME, |_, state: &State| {
            let run = |process: &Process| match process {
                Process::Recovering(log, _) => Some(*log),
                Process::Working(epoch) => Some(epoch.log),
                Process::Idle | Process::Locked | Process::Looked(_) => None,
            };
            let [one, two] = &state.processes;
            run(one).is_none() || run(one) != run(two)
        }),
        Property::always(ONE_RUN, |_, state: &State| state.logs.len() <= 1),
        Property::always(NOTHING_LATE, |_, state: &State| !state.seen.late_write),
        Property::sometimes(FINISHES, |_, state: &State| {
            let Faults { kills, power_cuts, failed_syncs } = state.left;
            state.is_finished() && kills + power_cuts + failed_syncs == 0
        }),
    ]
}

/// States from which no order of events comes to the end, and how many states there are.
fn stuck(protocol: Protocol) -> (usize, usize) {
    let mut numbers: HashMap<State, usize> = HashMap::new();
    let mut open: Vec<_> = protocol.init_states();
    let mut comes_from: Vec<Vec<usize>> = Vec::new();
    let mut good = Vec::new();
    for state in &open {
        numbers.insert(state.clone(), numbers.len());
        comes_from.push(Vec::new());
    }
    while let Some(state) = open.pop() {
        let number = numbers[&state];
        if state.is_finished() {
            good.push(number);
        }
        for next in protocol.next_states(&state) {
            let count = numbers.len();
            let at = *numbers.entry(next.clone()).or_insert(count);
            if at == count {
                open.push(next);
                comes_from.push(Vec::new());
            }
            comes_from[at].push(number);
        }
    }
    let mut reached = vec![false; numbers.len()];
    while let Some(number) = good.pop() {
        if !std::mem::replace(&mut reached[number], true) {
            good.extend(&comes_from[number]);
        }
    }
    (reached.iter().filter(|reached| !**reached).count(), reached.len())
}

#[test]
fn no_order_of_events_breaks_a_promise() {
    let protocol = Protocol { without: None, faults: FAULTS };
    let checker = protocol.checker().spawn_bfs().join();
    checker.assert_properties();
    let (states, deep) = (checker.unique_state_count(), checker.max_depth());
    println!("every promise holds in {states} states, at most {deep} actions deep");
    assert!(states > 100_000, "the model has become smaller: {states} states");
}

#[test]
fn from_every_state_it_can_come_to_the_end() {
    let (stuck, states) = stuck(Protocol { without: None, faults: FAULTS });
    println!("{stuck} of {states} states lead to no end");
    assert_eq!(stuck, 0);
}

#[test]
fn locks_that_outlive_their_process_leave_it_stuck() {
    let without = Some(Rule::LocksOfTheKernel);
    let (stuck, states) = stuck(Protocol { without, faults: faults(1, 0, 0) });
    println!("without LocksOfTheKernel, {stuck} of {states} states lead to no end");
    assert!(stuck > 0);
}

#[test]
fn without_any_one_rule_a_promise_is_broken() {
    for (rule, faults, broken) in [
        (Rule::Locks, faults(0, 0, 0), ONE_AT_A_TIME),
        (Rule::Locks, faults(0, 0, 0), ONE_SUCCESS),
        (Rule::TaskLock, faults(0, 0, 0), ONE_RUN),
        (Rule::Lease, faults(1, 0, 0), NOTHING_LATE),
        (Rule::SyncedStart, faults(0, 0, 0), START_FIRST),
        (Rule::SyncBeforeAck, faults(0, 1, 0), NOTHING_LOST),
        (Rule::SyncBeforeAck, faults(0, 0, 0), NEEDS_FIRST),
        (Rule::SyncedName, faults(0, 1, 0), NOTHING_LOST),
        (Rule::NoSecondSync, faults(0, 1, 1), NOTHING_LOST),
        (Rule::RewrittenEnd, faults(0, 1, 1), NOTHING_LOST),
        (Rule::SealedDone, faults(1, 1, 0), NOTHING_LOST),
    ] {
        let protocol = Protocol { without: Some(rule), faults };
        let wanted = HasDiscoveries::AllOf(BTreeSet::from([broken]));
        let checker = protocol.checker().finish_when(wanted).spawn_bfs().join();
        let found = checker.discovery(broken);
        let found = found.unwrap_or_else(|| panic!("without {rule:?} it still holds: {broken}"));
        // The search goes on behind the first state that breaks it, and so does its path.
        let holds = protocol.property(broken).condition;
        let states = found.into_vec().into_iter();
        let actions: Vec<_> = states
            .take_while(|(state, _)| holds(&protocol, state))
            .filter_map(|(_, action)| action)
            .collect();
        println!("without {rule:?}, {} actions break: {broken}", actions.len());
        println!("    {actions:?}");
    }
}
