use apollo::{step, task};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Result<T>(T);

#[step]
fn fetch() -> Result<u8> {
    Result(1)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
