use apollo::{step, task};

pub struct Plain;

#[step]
async fn fetch() -> Result<Plain, String> {
    Ok(Plain)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
