//! [`Scenario`]: what a simulated process is asked to do, by name.
//!
//! It is not what goes wrong meanwhile: that is a mishap.

use apollo::{RunOptions, Task};

use super::tasks;

/// What a simulated process is asked to do.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Its task.
    pub task: fn() -> Task,
    /// What every process of it is told.
    pub always: fn(RunOptions) -> RunOptions,
    /// What a person adds to the first run, and to no later one.
    pub first: Option<fn(RunOptions) -> RunOptions>,
    /// Whether a whole run of the task stands before it.
    pub begins_done: bool,
    /// Whether records may be synced later than they are told of.
    pub late: bool,
    /// Whether its bodies run side by side, one released after the other by a gate.
    pub parallel: bool,
    /// Whether it takes real time, so that it is left to the long form.
    pub slow: bool,
}

/// One process at a time, one step at a time, and nothing that is out of the ordinary.
const PLAIN: Scenario = Scenario {
    name: "",
    task: tasks::chain,
    always: |options| options,
    first: None,
    begins_done: false,
    late: false,
    parallel: false,
    slow: false,
};

/// All scenarios.
pub static SCENARIOS: &[Scenario] = &[
    Scenario { name: "chain", ..PLAIN },
    Scenario {
        name: "diamond",
        task: tasks::diamond,
        always: |options| options.max_parallel(1),
        ..PLAIN
    },
    Scenario { name: "retry", task: tasks::retry, ..PLAIN },
    Scenario { name: "optional", task: tasks::optional, ..PLAIN },
    Scenario { name: "batch", task: tasks::batch, late: true, ..PLAIN },
    Scenario {
        name: "side-by-side",
        task: tasks::diamond,
        always: |options| options.max_parallel(8),
        parallel: true,
        ..PLAIN
    },
    Scenario {
        name: "wide16",
        task: tasks::wide,
        always: |options| options.max_parallel(8),
        parallel: true,
        ..PLAIN
    },
    Scenario {
        name: "skip",
        task: tasks::skip,
        first: Some(|options| options.skip("left").expect("a step id")),
        ..PLAIN
    },
    Scenario {
        name: "resume_from",
        task: tasks::diamond,
        always: |options| options.max_parallel(1),
        first: Some(|options| options.resume_from("left").expect("a step id")),
        begins_done: true,
        ..PLAIN
    },
    Scenario { name: "fresh", first: Some(RunOptions::fresh), begins_done: true, ..PLAIN },
    Scenario {
        name: "spill",
        task: tasks::spill,
        always: |options| options.param("text", "a long text. ".repeat(5_300)),
        ..PLAIN
    },
    Scenario {
        name: "snapshot",
        task: tasks::retry,
        always: |options| options.snapshot_every(3),
        ..PLAIN
    },
    Scenario {
        name: "late-snapshot",
        task: tasks::batch,
        always: |options| options.snapshot_every(1),
        late: true,
        ..PLAIN
    },
    Scenario { name: "timeout", task: tasks::timeout, slow: true, ..PLAIN },
];

impl Scenario {
    /// The scenario of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }
}
