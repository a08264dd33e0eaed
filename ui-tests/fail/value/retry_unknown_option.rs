use apollo::{step, task};

#[step(retry(fixed, maximum = 5))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
