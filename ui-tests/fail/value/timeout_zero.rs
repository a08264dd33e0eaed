use apollo::{step, task};

#[step(timeout = "0s")]
async fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
