use apollo::{step, task};

#[step(colour = "red")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
