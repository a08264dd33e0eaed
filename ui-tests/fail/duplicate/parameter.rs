use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { day: String, day: u32 }, steps: [fetch] } }

fn main() {}
