use apollo::{step, task};

type Outcome = Result<u8, String>;

#[step]
fn fetch() -> Outcome {
    Err("lost".to_owned())
}

task! { pub daily { steps: [fetch] } }

fn main() {}
