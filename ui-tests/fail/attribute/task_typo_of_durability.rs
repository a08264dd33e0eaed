use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { durabilty: batch, steps: [fetch] } }

fn main() {}
