#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(#[param] task_date: &String) {}

task! { pub daily { steps: [fetch] } }

fn main() {}
