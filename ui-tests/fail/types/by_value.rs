#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch() -> u32 {
    1
}

#[step(depends_on = [fetch])]
fn validate(fetch: u32) {}

task! { pub daily { steps: [fetch, validate] } }

fn main() {}
