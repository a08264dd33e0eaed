//! Functions whose names could meet those of an expansion.

use apollo::{step, task};

#[step]
fn run() -> u32 {
    1
}

#[step(depends_on = [run])]
fn value(run: &u32) -> u32 {
    *run
}

#[step(depends_on = [value, run as inputs])]
fn ctx(value: &u32, inputs: &u32) -> Result<u32, String> {
    Ok(value + inputs)
}

#[step(depends_on = [ctx])]
fn error(ctx: &u32, #[param] guilty: &u32) -> Result<u32, String> {
    Err(format!("{ctx} {guilty}"))
}

task! { info { params: { guilty: u32 }, steps: [run, value, ctx, error] } }

fn main() {
    let _ = info();
}
