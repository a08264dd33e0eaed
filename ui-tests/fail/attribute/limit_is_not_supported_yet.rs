use apollo::{step, task};

#[step(limit = database)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
