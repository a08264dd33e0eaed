use apollo::{step, task};

#[step(version =)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
