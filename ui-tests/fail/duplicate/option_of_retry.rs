use apollo::{step, task};

#[step(retry(fixed, max = 3, max = 4))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
