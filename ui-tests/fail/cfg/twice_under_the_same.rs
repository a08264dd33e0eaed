use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily { steps: [#[cfg(all())] fetch, #[cfg(all())] fetch] } }

fn main() {}
