use apollo::{step, task};

pub struct Broken;

#[step]
fn fetch() -> Result<u32, Broken> {
    Err(Broken)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
