use apollo::{step, task};

macro_rules! daily {
    ($($step:path),*) => {
        task! { pub daily { steps: [$($step),*] } }
    };
}

#[step]
fn fetch() {}

#[step(depends_on = [fetch])]
fn validate() {}

daily!(validate);

fn main() {}
