use apollo::{step, task};

#[step(cleanup = undo_all)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
