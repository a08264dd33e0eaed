use apollo::{step, task};

#[step(verison = 2)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
