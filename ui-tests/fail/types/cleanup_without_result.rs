#![allow(unused_variables)]

use apollo::{Context, step, task};

fn undo(_: &Context) {}

#[step(cleanup = undo)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
