#![allow(unused_variables)]

use apollo::step;

#[step]
fn fetch() -> u32 {
    1
}

#[step(depends_on = [fetch])]
fn validate(fetch: &u32, _fetch: &u32) {}

fn main() {}
