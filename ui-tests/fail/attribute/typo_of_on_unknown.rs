use apollo::{step, task};

#[step(on_unknow = skip)]
fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
