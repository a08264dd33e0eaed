use apollo::{step, task};

#[step]
fn show() -> std::fmt::Result {
    Err(std::fmt::Error)
}

task! { pub daily { steps: [show] } }

fn main() {}
