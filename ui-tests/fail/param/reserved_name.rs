use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { dir: String }, steps: [fetch] } }

fn main() {}
