use apollo::{step, task};

fn fetch() {}

#[step(depends_on = [fetch])]
fn validate() {}

task! { pub daily { steps: [validate] } }

fn main() {}
