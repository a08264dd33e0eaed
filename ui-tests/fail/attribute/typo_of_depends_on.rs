use apollo::{step, task};

#[step(depend_on = [fetch])]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
