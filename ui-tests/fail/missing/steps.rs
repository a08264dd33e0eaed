use apollo::task;

task! { pub daily { max_retries: 3 } }

fn main() {}
