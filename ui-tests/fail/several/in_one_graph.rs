#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn start() {}

#[step(depends_on = [start, b])]
fn a() {}

#[step(depends_on = [a])]
fn b() {}

#[step]
fn c(#[param] day: &String) {}

task! { pub daily { steps: [a, b, c] } }

fn main() {}
