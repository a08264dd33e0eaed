use apollo::{step, task};

#[step(retyr = fixed)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
