use apollo::{step, task};

#[step]
fn fetch_raw() {}

task! { pub daily { steps: [fetch_rwa] } }

fn main() {}
