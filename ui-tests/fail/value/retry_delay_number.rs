use apollo::{step, task};

#[step(retry(fixed, delay = 10))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
