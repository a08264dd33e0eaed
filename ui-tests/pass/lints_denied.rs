//! The strictest user: nothing of ours shows up in the lints of a crate that denies them.

#![forbid(unsafe_code, non_camel_case_types, non_snake_case)]
#![deny(warnings, missing_docs, unused, dead_code, unreachable_pub, missing_debug_implementations)]
#![deny(missing_copy_implementations, unused_qualifications, elided_lifetimes_in_paths)]
#![deny(single_use_lifetimes, unused_results, unused_lifetimes, let_underscore_drop)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery, clippy::cargo, unnameable_types)]
#![deny(future_incompatible, nonstandard_style, rust_2018_idioms, keyword_idents, trivial_casts)]
#![deny(explicit_outlives_requirements, unit_bindings, redundant_lifetimes, meta_variable_misuse)]

use apollo::{Context, step, task};

/// Fetches.
///
/// # Errors
/// When it can't.
#[step(retry(exponential, max = 5, delay = "1s", jitter), cleanup = undo, probe = asked)]
pub fn fetch(ctx: &Context, #[param] day: &String) -> Result<u32, std::io::Error> {
    if ctx.is_cancelled() || day.is_empty() {
        return Err(std::io::Error::other("stopped"));
    }
    Ok(1)
}

#[step(depends_on = [fetch], optional)]
async fn enrich(fetch: &u32) -> u64 {
    u64::from(*fetch)
}

/// Joins.
#[step(depends_on = [fetch, enrich as more], version = 2)]
pub(crate) fn join(fetch: &u32, more: Option<&u64>) -> Result<u64, String> {
    more.map(|more| more + u64::from(*fetch)).ok_or_else(|| "no more".to_owned())
}

fn undo(_: &Context) -> Result<(), std::io::Error> {
    std::fs::remove_file("part")
}

fn asked(_: &Context, key: &str) -> Result<bool, std::io::Error> {
    std::fs::exists(key)
}

task! {
    /// A day.
    pub daily { params: { day: String = "monday" }, steps: [fetch, enrich, join] }
}

fn main() {
    assert_eq!(daily().graph().len(), 3);
}
