#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(#[param] day: &str) {}

task! { pub daily { params: { day: String }, steps: [fetch] } }

fn main() {}
