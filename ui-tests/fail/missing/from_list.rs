use apollo::{step, task};

#[step]
fn fetch() {}

#[step(depends_on = [fetch])]
fn validate() {}

task! { pub daily { steps: [validate] } }

fn main() {}
