#![allow(unused_variables)]

use apollo::{Context, step, task};

pub struct Broken;

fn undo(_: &Context) -> Result<(), Broken> {
    Err(Broken)
}

#[step(cleanup = undo)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
