//! Every form of every option.

use apollo::{Context, step, task};

#[step(retry = none, on_unknown = rerun, durability = always)]
fn a() {}

#[step(retry = fixed, on_unknown = skip, durability = batch, version = 1)]
fn b() {}

#[step(retry = exponential, on_unknown = fail, version = 4_000_000_000, renamed_from = "b2")]
fn c() {}

#[step(retry(none))]
fn d() {}

#[step(retry(fixed, max = 1, delay = "500ms", jitter,))]
fn e() {}

#[step(retry(exponential, cap = "1h30m"), id = "f-1.x")]
fn f() {}

#[step(timeout = "1d", optional, cleanup = undo::all, probe = undo::asked, depends_on = [a, f,])]
async fn g() {}

mod undo {
    use super::Context;

    pub(super) fn all(_: &Context) -> Result<(), &'static str> {
        Ok(())
    }

    pub(super) fn asked(_: &Context, _: &str) -> apollo::Result<bool> {
        Ok(true)
    }
}

task! {
    daily {
        max_retries: 0,
        retry_delay: "0s",
        max_parallel: 1,
        durability: always,
        params: {},
        steps: [a, b, c, d, e, f, g,],
    }
}

fn main() {
    let graph = daily().graph().clone();
    assert_eq!(graph.ancestors(graph.index_of("g").unwrap()).len(), 2);
}
