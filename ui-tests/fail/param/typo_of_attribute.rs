#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(#[parm] day: &String) {}

task! { pub daily { params: { day: String }, steps: [fetch] } }

fn main() {}
