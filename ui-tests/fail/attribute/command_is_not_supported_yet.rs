use apollo::{step, task};

#[step(command = "make")]
fn fetch();

task! { pub daily { steps: [fetch] } }

fn main() {}
