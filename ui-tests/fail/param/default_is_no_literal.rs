use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { day: String = today() }, steps: [fetch] } }

fn main() {}
