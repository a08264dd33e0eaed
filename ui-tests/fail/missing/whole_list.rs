use apollo::task;

task! { pub daily { steps: [] } }

fn main() {}
