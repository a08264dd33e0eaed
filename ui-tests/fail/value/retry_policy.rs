use apollo::{step, task};

#[step(retry = exponental)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
