use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { max_retries: 3, steps: [fetch], max_retries: 4 } }

fn main() {}
