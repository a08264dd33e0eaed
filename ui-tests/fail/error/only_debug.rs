use apollo::{step, task};

#[derive(Debug)]
pub struct Broken;

#[step]
async fn fetch() -> Result<u32, Broken> {
    Err(Broken)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
