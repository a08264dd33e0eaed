use apollo::{step, task};

#[step(depends_on = [validate])]
fn fetch() {}

#[step(depends_on = [fetch])]
fn validate() {}

task! { pub daily { steps: [fetch, validate] } }

fn main() {}
