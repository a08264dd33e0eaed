#![allow(unused_variables)]

use apollo::{Context, step};

#[step]
fn fetch(ctx: Context) {}

fn main() {}
