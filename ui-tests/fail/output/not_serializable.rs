use apollo::{step, task};

pub struct Plain;

#[step]
fn fetch() -> Plain {
    Plain
}

task! { pub daily { steps: [fetch] } }

fn main() {}
