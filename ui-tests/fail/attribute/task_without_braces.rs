use apollo::{step, task};

#[step]
fn fetch() {}

task! { steps: [fetch] }

fn main() {}
