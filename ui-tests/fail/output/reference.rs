use apollo::{step, task};

#[step]
fn fetch() -> &'static str {
    "text"
}

task! { pub daily { steps: [fetch] } }

fn main() {}
