#![allow(unused_variables)]

use apollo::{step, task};

#[step]
fn fetch(#[param] taks_date: &String) {}

task! { pub daily { params: { task_date: String }, steps: [fetch] } }

fn main() {}
