use apollo::{step, task};

#[step(retry(fixed, cap = "5m"))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
