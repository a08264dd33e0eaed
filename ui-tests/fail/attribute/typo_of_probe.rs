use apollo::{step, task};

#[step(prob = asked)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
