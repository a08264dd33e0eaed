#![allow(unused_variables)]

use apollo::{step, task};

#[step(optional)]
fn enrich() -> u32 {
    1
}

#[step(depends_on = [enrich])]
fn join(enrich: Option<u32>) {}

task! { pub daily { steps: [enrich, join] } }

fn main() {}
