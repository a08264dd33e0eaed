#![allow(unused_variables)]

use apollo::{step, task};

fn undo(file: &str) -> Result<(), String> {
    Err(file.to_owned())
}

#[step(cleanup = undo)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
