use apollo::{step, task};

#[step(renamed_from = old)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
