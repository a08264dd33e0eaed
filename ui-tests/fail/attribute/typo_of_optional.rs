use apollo::{step, task};

#[step(optionl)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
