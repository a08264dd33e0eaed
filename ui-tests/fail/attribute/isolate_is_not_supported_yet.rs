use apollo::{step, task};

#[step(isolate)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
