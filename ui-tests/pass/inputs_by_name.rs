//! Inputs are bound by name; a lone one may have any; `_` marks one that is not used.

use apollo::{Context, step, task};

#[step]
fn first() -> u32 {
    1
}

#[step]
fn second() -> u32 {
    2
}

#[step(depends_on = [first])]
fn lone(anything: &u32) -> u32 {
    *anything
}

#[step(depends_on = [first, second])]
fn in_any_order(second: &u32, ctx: &Context, first: &u32) -> usize {
    ctx.step_id().len() + (second - first) as usize
}

#[step(depends_on = [first, second as other])]
fn unused(_first: &u32, mut other: &u32) -> u32 {
    if *other == 0 {
        other = &1;
    }
    *other
}

#[step(depends_on = [lone, first, second])]
fn order_only(_: &Context) {}

#[step(depends_on = [first])]
fn with_lifetimes<'a>(ctx: &'a Context, first: &'a u32) -> usize {
    let texts: [&'a str; 1] = [ctx.step_id()];
    texts.len() + *first as usize
}

#[step(depends_on = [first])]
fn called_context(first: &u32, #[allow(unused_variables)] context: &apollo::Context) -> u32 {
    *first
}

task! {
    daily {
        steps: [
            first, second, lone, in_any_order, unused, order_only, with_lifetimes, called_context,
        ],
    }
}

fn main() {
    let _ = daily();
}
