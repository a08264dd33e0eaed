use apollo::{step, task};

#[step(retry: fixed)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
