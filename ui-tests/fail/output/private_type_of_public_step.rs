#![allow(unused_variables)]

use apollo::{step, task};

#[derive(serde::Serialize, serde::Deserialize)]
struct Raw(u32);

#[step]
pub fn fetch() -> Raw {
    Raw(1)
}

fn _use(raw: Raw) -> u32 {
    raw.0
}

task! { pub daily { steps: [fetch] } }

fn main() {}
