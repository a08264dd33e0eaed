//! A step belongs to no task: two have it, and each judges its own graph.

use apollo::{step, task};

#[step]
fn fetch() -> u32 {
    1
}

#[step(depends_on = [fetch])]
fn validate(fetch: &u32) -> u32 {
    *fetch
}

#[step(depends_on = [validate])]
fn report(validate: &u32) -> String {
    validate.to_string()
}

task! { daily { steps: [fetch, validate] } }
task! { weekly { steps: [report, validate, fetch] } }

fn main() {
    assert_eq!((daily().graph().len(), weekly().graph().len()), (2, 3));
    assert_eq!(apollo::Task::registered().len(), 2);
}
