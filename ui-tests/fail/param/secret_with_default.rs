use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { secret token: String = "x" }, steps: [fetch] } }

fn main() {}
