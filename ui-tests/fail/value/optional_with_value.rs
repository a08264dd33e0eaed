use apollo::{step, task};

#[step(optional = true)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
