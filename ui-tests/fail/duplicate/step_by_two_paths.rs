use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { steps: [fetch, self::fetch] } }

fn main() {}
