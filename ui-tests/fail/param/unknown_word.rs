use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { hidden token: String }, steps: [fetch] } }

fn main() {}
