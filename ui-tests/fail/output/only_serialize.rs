use apollo::{step, task};

#[derive(serde::Serialize)]
pub struct Half(u32);

#[step]
fn fetch() -> Half {
    Half(1)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
