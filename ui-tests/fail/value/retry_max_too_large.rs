use apollo::{step, task};

#[step(retry(fixed, max = 4294967296))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
