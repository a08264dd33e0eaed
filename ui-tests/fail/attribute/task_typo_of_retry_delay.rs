use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { retry_dealy: "1s", steps: [fetch] } }

fn main() {}
