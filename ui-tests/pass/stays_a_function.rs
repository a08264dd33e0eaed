//! A step is the function that it was: it can be called, passed and tested.

use apollo::{step, task};

/// Doubles.
#[step]
#[must_use]
#[inline]
const fn two() -> u32 {
    2
}

#[step(depends_on = [two])]
fn double(two: &u32) -> u32 {
    two * 2
}

task! { daily { steps: [two, double] } }

fn main() {
    let function: fn(&u32) -> u32 = double;
    assert_eq!(function(&two()), 4);
    let _ = daily();
}
