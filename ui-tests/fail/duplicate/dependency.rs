use apollo::{step, task};

#[step]
fn fetch() {}

#[step(depends_on = [fetch, fetch])]
fn validate() {}

task! { pub daily { steps: [fetch, validate] } }

fn main() {}
