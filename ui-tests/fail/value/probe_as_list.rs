use apollo::{step, task};

#[step(probe(asked))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
