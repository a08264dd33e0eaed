use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { retry_delay: "soon", steps: [fetch] } }

fn main() {}
