//! No name of the prelude is taken for granted.

#![no_implicit_prelude]

use ::apollo::{Context, step, task};

#[step(optional, retry = fixed)]
fn fetch(_ctx: &Context, #[param] day: &::std::string::String) -> ::apollo::Result<u32> {
    ::std::result::Result::Ok(day.len() as u32)
}

#[step(depends_on = [fetch], cleanup = undo)]
async fn join(fetch: ::std::option::Option<&u32>) -> u32 {
    *fetch.unwrap_or(&0)
}

fn undo(_: &Context) -> ::std::result::Result<(), ::std::string::String> {
    ::std::result::Result::Ok(())
}

task! { daily { max_parallel: 2, params: { day: ::std::string::String }, steps: [fetch, join] } }

fn main() {
    let _ = daily();
}
