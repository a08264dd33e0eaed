#![allow(unused_imports)]

use apollo::{step, task};

#[cfg(any())]
#[step]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
