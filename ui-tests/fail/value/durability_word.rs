use apollo::{step, task};

#[step(durability = allways)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
