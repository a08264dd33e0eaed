#![allow(non_ascii_idents)]

use apollo::step;

#[step]
fn café() {}

fn main() {}
