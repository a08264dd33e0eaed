//! A task in a constant position: its function makes it anew each time, with the same graph.

use apollo::{Task, step, task};

static MAKE: [fn() -> Task; 1] = [daily];

#[step]
fn fetch() {}

task! { daily { steps: [fetch] } }

fn main() {
    assert_eq!(MAKE[0]().graph().digest(), daily().graph().digest());
}
