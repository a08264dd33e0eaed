use apollo::{step, task};

#[step(retry())]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
