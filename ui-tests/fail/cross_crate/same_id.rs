use apollo::{step, task};
use apollo_ui_tests::good;

#[step]
fn fetch() {}

task! { pub daily { steps: [good::fetch, fetch] } }

fn main() {}
