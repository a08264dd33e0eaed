use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { durability: sometimes, steps: [fetch] } }

fn main() {}
