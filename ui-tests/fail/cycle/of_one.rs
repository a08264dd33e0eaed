use apollo::{step, task};

#[step(depends_on = [fetch])]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
