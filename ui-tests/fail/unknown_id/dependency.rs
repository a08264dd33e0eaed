use apollo::{step, task};

#[step]
fn fetch_raw() {}

#[step(depends_on = [fetch_rwa])]
fn validate() {}

task! { pub daily { steps: [fetch_raw, validate] } }

fn main() {}
