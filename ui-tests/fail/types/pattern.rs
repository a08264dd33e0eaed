#![allow(unused_variables)]

use apollo::step;

#[step]
fn fetch() -> (u32, u32) {
    (1, 2)
}

#[step(depends_on = [fetch])]
fn validate((a, b): &(u32, u32)) {}

fn main() {}
