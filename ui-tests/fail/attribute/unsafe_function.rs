use apollo::{step, task};

#[step]
unsafe fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
