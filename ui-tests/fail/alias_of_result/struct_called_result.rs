use apollo::{step, task};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Result(u8);

#[step]
fn fetch() -> Result {
    Result(1)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
