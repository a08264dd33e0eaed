use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { max_parallel: u32 }, steps: [fetch] } }

fn main() {}
