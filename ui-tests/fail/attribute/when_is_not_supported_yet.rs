use apollo::{step, task};

#[step(when = is_monday)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
