#![allow(unused_variables)]

use apollo::{step, task};

struct Context;

#[step]
fn fetch(ctx: &Context) {}

task! { pub daily { steps: [fetch] } }

fn main() {}
