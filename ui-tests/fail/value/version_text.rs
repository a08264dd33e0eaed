use apollo::{step, task};

#[step(version = "2")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
