//! Steps and tasks inside functions; two functions have steps of one name.

use apollo::{Task, step, task};

fn first() -> Task {
    #[step]
    fn fetch() {}

    task! { daily { steps: [fetch] } }
    daily()
}

fn second() -> Task {
    #[step(version = 2)]
    fn fetch() {}

    task! { daily { steps: [fetch] } }
    daily()
}

fn main() {
    assert_ne!(first().graph().digest(), second().graph().digest());
}
