use apollo::{step, task};

#[step(timeout = "2000000d")]
async fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
