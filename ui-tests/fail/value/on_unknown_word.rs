use apollo::{step, task};

#[step(on_unknown = skipp)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
