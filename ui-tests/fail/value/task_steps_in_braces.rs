use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { steps: { fetch } } }

fn main() {}
