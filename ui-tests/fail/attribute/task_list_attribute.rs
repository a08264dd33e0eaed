use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { steps: [#[allow(unused)] fetch] } }

fn main() {}
