use apollo::{step, task};

#[step(retires = fixed)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
