use apollo::{step, task};

#[step]
fn fetch() -> Result<&'static str, String> {
    Ok("text")
}

task! { pub daily { steps: [fetch] } }

fn main() {}
