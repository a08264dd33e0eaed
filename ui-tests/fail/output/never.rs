use apollo::{step, task};

#[step]
fn fetch() -> ! {
    std::process::exit(1)
}

task! { pub daily { steps: [fetch] } }

fn main() {}
