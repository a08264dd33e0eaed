use apollo::{step, task};

#[step(retry = 3)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
