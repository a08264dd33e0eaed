use apollo::{step, task};

#[step(optional, optional)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
