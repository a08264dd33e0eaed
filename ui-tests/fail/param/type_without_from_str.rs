#![allow(unused_variables)]

use apollo::{step, task};

pub struct Day;

#[step]
fn fetch(#[param] day: &Day) {}

task! { pub daily { params: { day: String }, steps: [fetch] } }

fn main() {}
