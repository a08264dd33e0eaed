#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch<T>(value: &T) {}

task! { pub daily { steps: [fetch] } }

fn main() {}
