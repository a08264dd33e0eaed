use apollo::{step, task};

#[step(timout = "1s")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
