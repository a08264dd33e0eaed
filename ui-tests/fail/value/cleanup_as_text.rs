use apollo::{step, task};

#[step(cleanup = "undo")]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
