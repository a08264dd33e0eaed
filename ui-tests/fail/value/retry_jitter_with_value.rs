use apollo::{step, task};

#[step(retry(exponential, jitter = true))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
