#![allow(unused_variables)]

use apollo::{step, task};

pub struct Plain;

#[step]
fn fetch() -> Result<Plain, String> {
    Ok(Plain)
}

#[step(depends_on = [fetch])]
fn validate(fetch: &Plain) {}

task! { pub daily { steps: [fetch, validate] } }

fn main() {}
