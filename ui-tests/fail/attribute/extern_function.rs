use apollo::{step, task};

#[step]
extern "C" fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
