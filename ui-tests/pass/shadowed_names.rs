//! Names of the prelude and of primitive types that mean something else here.

#![allow(dead_code, non_camel_case_types)]

use apollo::{step, task};

struct Result;
struct Option;
struct String;
struct Vec;
struct Some;
struct Ok;
struct Err;
struct Box;
struct Step;
struct Context;
struct u128;
struct bool;
struct str;
struct usize;
mod core {}
mod std {}

#[step(retry(fixed, max = 2), optional)]
fn fetch() -> ::std::result::Result<u8, ::std::string::String> {
    ::std::result::Result::Ok(1)
}

#[step(depends_on = [fetch])]
fn join(#[param] limit: &u8, fetch: ::std::option::Option<&u8>) -> u8 {
    *limit + fetch.copied().unwrap_or(0)
}

task! { daily { params: { limit: u8 = 10 }, steps: [fetch, join] } }

fn main() {
    let _ = daily();
}
