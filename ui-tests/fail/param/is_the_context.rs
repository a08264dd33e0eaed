#![allow(unused_variables)]

use apollo::{Context, step, task};

#[step]
fn fetch(#[param] ctx: &Context) {}

task! { pub daily { steps: [fetch] } }

fn main() {}
