#![allow(unused_variables)]

use apollo::step;

#[step]
fn validate(fetch: &u32) {}

fn main() {}
