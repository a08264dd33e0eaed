use apollo::{step, task};

#[step(timeout = "10m")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
