#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(#[param(name = "day")] task_date: &String) {}

task! { pub daily { params: { day: String }, steps: [fetch] } }

fn main() {}
