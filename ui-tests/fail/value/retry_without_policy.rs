use apollo::{step, task};

#[step(retry(max = 5))]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
