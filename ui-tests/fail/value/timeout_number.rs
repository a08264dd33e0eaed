use apollo::{step, task};

#[step(timeout = 600)]
async fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
