//! Results under other names, as long as the name ends in `Result`.

use apollo::{step, task};

type Result<T, E = String> = std::result::Result<T, E>;

mod my {
    pub(crate) type Result<T> = std::result::Result<T, std::num::ParseIntError>;
}

#[step]
fn fetch() -> Result<u8> {
    Ok(1)
}

#[step(depends_on = [fetch])]
fn parse(fetch: &u8) -> my::Result<u8> {
    fetch.to_string().parse()
}

task! { daily { steps: [fetch, parse] } }

fn main() {
    let _ = daily();
}
