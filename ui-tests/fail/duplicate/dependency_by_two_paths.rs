use apollo::{step, task};

#[step]
fn fetch() {}

#[step(depends_on = [fetch, self::fetch as again])]
fn validate() {}

task! { pub daily { steps: [fetch, validate] } }

fn main() {}
