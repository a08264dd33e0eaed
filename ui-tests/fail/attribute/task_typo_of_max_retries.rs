use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { max_retires: 3, steps: [fetch] } }

fn main() {}
