#![allow(unused_variables)]

use apollo::{step, task};
use apollo_ui_tests::good;

#[step(depends_on = [good::enrich])]
fn join(enrich: &u64) {}

task! { pub daily { steps: [good::fetch, good::validate, good::enrich, join] } }

fn main() {}
