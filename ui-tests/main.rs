//! What the compiler says of right and wrong programs: every file of `pass/` compiles without a
//! word, every file of `fail/` ends with exactly the errors that stand beside it.
//!
//! `TRYBUILD=overwrite cargo test -p apollo-ui-tests` writes the texts anew; they are product text,
//! so whoever does it reads the difference.

#![expect(clippy::disallowed_methods, reason = "a test reads and writes its own files")]

mod incremental;
mod tidy;

#[test]
fn the_compiler_says_what_it_should() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*/*.rs");
}
