#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(value: &impl Clone) {}

task! { pub daily { steps: [fetch] } }

fn main() {}
