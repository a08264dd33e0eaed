use apollo::{step, task};

#[step(durabilty = batch)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
