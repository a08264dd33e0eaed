//! Apollo under another name.

mod vendored {
    pub use apollo as engine;
}

use vendored::engine::{step, task};

#[step(crate = vendored::engine, retry = fixed)]
fn fetch() -> u32 {
    1
}

#[step(depends_on = [fetch], crate = crate::vendored::engine)]
fn join(fetch: &u32) -> u32 {
    *fetch
}

task! { daily { crate: vendored::engine, steps: [fetch, join] } }

fn main() {
    let _ = daily();
}
