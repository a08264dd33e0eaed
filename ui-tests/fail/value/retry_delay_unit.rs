use apollo::{step, task};

#[step(retry(fixed, delay = "10 seconds"))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
