use apollo::task;

fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
