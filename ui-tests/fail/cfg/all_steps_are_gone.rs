use apollo::task;

task! { pub daily { steps: [#[cfg(any())] fetch] } }

fn main() {}
