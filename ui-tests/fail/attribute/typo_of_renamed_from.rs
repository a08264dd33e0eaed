use apollo::{step, task};

#[step(rename_from = "old")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
