use apollo::{step, task};

#[step(timeout = "1.5h")]
async fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
