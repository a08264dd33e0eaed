use apollo::{step, task};

#[step(id = "a/b")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
