#![allow(unused_variables)]

use apollo::{step, task};

#[step(depends_on = [b])]
fn a(b: &u32) -> u32 {
    *b
}

#[step(depends_on = [a])]
fn b(a: &u32) -> u32 {
    *a
}

task! { pub daily { steps: [a, b] } }

fn main() {}
