# The names of what is done here, each one command.

# Lists them.
list:
    @just --list --unsorted

# Formats the sources.
fmt:
    cargo fmt --all

# Lets clippy judge everything; a warning is an error.
lint:
    cargo clippy --workspace --all-targets --all-features -- -D warnings

# Runs all tests, the doctests too.
test:
    cargo test --workspace

# Runs the compile-fail and compile-pass cases.
ui:
    cargo ui

# Takes the compiler's texts of today as the expected ones, and shows what changed.
bless:
    TRYBUILD=overwrite cargo ui; git diff -- ui-tests

# Looks for a way to lose something, as long as it takes (docs/reliability.md).
crash:
    bash .ci/crash

# Builds the documentation; a warning is an error.
doc:
    RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --all-features

# Judges licences and advisories of the dependencies.
deny:
    cargo deny check

# Shows a run that is killed in the middle and finished by the same command.
demo:
    cargo build --quiet --example cleanup_after_kill
    -timeout --signal=KILL 1 cargo run --quiet --example cleanup_after_kill -- run --new
    cargo run --quiet --example cleanup_after_kill

# What a change has to pass.
pre: fmt lint test ui doc
