use apollo::{step, task};

#[step(version = 0)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
