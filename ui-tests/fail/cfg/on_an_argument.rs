#![allow(unused_variables)]

use apollo::{Context, step};

#[step]
fn fetch(#[cfg(all())] ctx: &Context) {}

fn main() {}
