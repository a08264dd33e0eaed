use apollo::{step, task};

#[step]
fn fetch<const N: usize>() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
