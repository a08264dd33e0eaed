use apollo::{step, task};

#[step(retry(exponential, delay = "10s", cap = "5s"))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
