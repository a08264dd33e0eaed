use apollo::{step, task};

#[step]
fn load() {}

#[step(id = "load")]
fn load_again() {}

task! { pub daily { steps: [load, load_again] } }

fn main() {}
