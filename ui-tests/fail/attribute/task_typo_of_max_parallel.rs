use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { maxparallel: 2, steps: [fetch] } }

fn main() {}
