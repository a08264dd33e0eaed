use apollo::{step, task};

#[step(id = "")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
