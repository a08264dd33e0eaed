//! Steps that are there in some builds only.

use apollo::{step, task};

#[step]
fn fetch() -> u32 {
    1
}

#[cfg(any())]
#[step(depends_on = [fetch, nothing])]
fn gone(fetch: &Missing) {}

#[step(depends_on = [fetch])]
#[cfg(all())]
fn here(fetch: &u32) -> u32 {
    *fetch
}

task! { daily { steps: [fetch, #[cfg(any())] gone, #[cfg(all())] here] } }

fn main() {
    assert_eq!(daily().graph().len(), 2);
}
