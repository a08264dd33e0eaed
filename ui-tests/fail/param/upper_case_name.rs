use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { TaskDate: String }, steps: [fetch] } }

fn main() {}
