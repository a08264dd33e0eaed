use apollo::{step, task};

#[step]
fn fetch() -> impl serde::Serialize {
    1
}

task! { pub daily { steps: [fetch] } }

fn main() {}
