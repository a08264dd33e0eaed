#![allow(unused_variables)]

use apollo::{Context, step, task};

fn was_sent(_: &Context) -> Result<bool, String> {
    Ok(true)
}

#[step(probe = was_sent)]
fn send() {}

task! { pub daily { steps: [send] } }

fn main() {}
