use apollo::{step, task};

#[step(clean_up = undo)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
