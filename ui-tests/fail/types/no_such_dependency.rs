#![allow(unused_variables)]

use apollo::step;

#[step]
fn fetch() -> u32 {
    1
}

#[step]
fn enrich() -> u32 {
    2
}

#[step(depends_on = [fetch, enrich])]
fn validate(fetch: &u32, enrch: &u32) {}

fn main() {}
