use apollo::{step, task};

#[step(retry(fixed, max = -1))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
