#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(#[param] limit: u32) {}

task! { pub daily { params: { limit: u32 }, steps: [fetch] } }

fn main() {}
