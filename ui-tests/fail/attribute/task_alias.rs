use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { steps: [fetch as raw] } }

fn main() {}
