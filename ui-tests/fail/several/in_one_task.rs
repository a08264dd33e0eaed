use apollo::{step, task};

#[step]
fn fetch() {}

task! { pub daily {
    max_retires: 3,
    retry_delay: 10,
    params: { dir: String, day: String = today() },
    steps: [fetch, fetch, "validate"],
} }

fn main() {}
