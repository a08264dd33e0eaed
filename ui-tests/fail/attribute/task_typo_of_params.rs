use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { parms: {}, steps: [fetch] } }

fn main() {}
