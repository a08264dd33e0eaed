#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn day() -> u32 {
    1
}

#[step(depends_on = [day])]
fn fetch(#[param] day: &u32) {}

task! { pub daily { params: { day: u32 }, steps: [day, fetch] } }

fn main() {}
