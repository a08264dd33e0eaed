use apollo::{step, task};

#[step(ids = "x")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
