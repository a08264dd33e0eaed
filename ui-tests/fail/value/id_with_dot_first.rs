use apollo::{step, task};

#[step(id = ".hidden")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
