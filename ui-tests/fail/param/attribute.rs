use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { params: { #[secret] token: String }, steps: [fetch] } }

fn main() {}
