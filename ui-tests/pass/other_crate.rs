//! Steps of another crate, mixed with our own.

use apollo::{step, task};
use apollo_ui_tests::{again, good};

#[step(depends_on = [good::enrich, again as raw])]
fn join(enrich: Option<&u64>, raw: &u32) -> u64 {
    enrich.copied().unwrap_or(0) + u64::from(*raw)
}

task! {
    daily {
        params: { task_date: String },
        steps: [good::fetch, good::validate, good::enrich, good::with_date, join],
    }
}

fn main() {
    let _ = daily();
}
