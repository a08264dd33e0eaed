use apollo::{step, task};

#[step(optional retry = fixed)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
