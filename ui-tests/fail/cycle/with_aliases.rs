use apollo::{step, task};

#[step(depends_on = [validate as checked])]
fn fetch() {}

#[step(depends_on = [fetch as raw])]
fn validate() {}

task! { pub daily { steps: [fetch, validate] } }

fn main() {}
