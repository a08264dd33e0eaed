use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { graph: picture, steps: [fetch] } }

fn main() {}
