use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { day }, steps: [fetch] } }

fn main() {}
