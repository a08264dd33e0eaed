use apollo::{step, task};

#[step(renamed_from = "fetch")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
