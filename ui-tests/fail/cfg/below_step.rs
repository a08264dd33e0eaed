#![allow(unused_imports)]

use apollo::{step, task};

#[step]
#[cfg(any())]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
