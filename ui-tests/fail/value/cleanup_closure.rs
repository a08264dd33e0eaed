use apollo::{step, task};

#[step(cleanup = |_| ())]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
