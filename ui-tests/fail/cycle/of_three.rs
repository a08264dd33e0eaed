use apollo::{step, task};

#[step(depends_on = [transform])]
fn fetch() {}

#[step(depends_on = [fetch])]
fn validate() {}

#[step(depends_on = [validate])]
fn transform() {}

task! { pub daily { steps: [fetch, validate, transform] } }

fn main() {}
