//! A fuzz target of [`apollo_tests::fuzz`], given to libFuzzer: `bash .ci/fuzz` builds it so, and
//! `FUZZ_TARGET` names the target.
//!
//! Built like any other program it runs the inputs that it is given, such as one that libFuzzer
//! found: `cargo run -p apollo-tests --bin fuzz -- TARGET FILE...`.

#![cfg_attr(fuzzing, no_main)]

use apollo_tests::fuzz::{Check, TARGETS};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    static CHECK: std::sync::LazyLock<Check> =
        std::sync::LazyLock::new(|| target(&std::env::var("FUZZ_TARGET").unwrap_or_default()));
    CHECK(input);
});

#[cfg(not(fuzzing))]
fn main() {
    let mut args = std::env::args().skip(1);
    let check = target(&args.next().unwrap_or_default());
    for file in args {
        check(&std::fs::read(&file).expect("a readable input"));
        println!("{file}: every promise holds");
    }
}

fn target(name: &str) -> Check {
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    let names: Vec<_> = TARGETS.iter().map(|(target, _)| *target).collect();
    found.unwrap_or_else(|| panic!("the targets are {}", names.join(", "))).1
}
