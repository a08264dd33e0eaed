use apollo::{step, task};

#[step(depends_on)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
