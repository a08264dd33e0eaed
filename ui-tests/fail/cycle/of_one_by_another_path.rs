use apollo::{step, task};

#[step(depends_on = [self::fetch])]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
