#![allow(unused_variables)]

use apollo::{step, task};
use apollo_ui_tests::good;

#[step(depends_on = [good::fetch])]
fn join(fetch: &String) {}

task! { pub daily { steps: [good::fetch, join] } }

fn main() {}
