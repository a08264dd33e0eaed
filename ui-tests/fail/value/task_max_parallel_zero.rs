use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { max_parallel: 0, steps: [fetch] } }

fn main() {}
