#![allow(unused_variables)]

use apollo::{step, task};

pub struct Day;

impl std::str::FromStr for Day {
    type Err = String;
    fn from_str(_: &str) -> Result<Self, String> {
        Ok(Self)
    }
}

#[step]
fn fetch(#[param] day: &Day) {}

task! { pub daily { params: { day: Day }, steps: [fetch] } }

fn main() {}
