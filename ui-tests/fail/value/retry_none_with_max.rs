use apollo::{step, task};

#[step(retry(none, max = 5))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
