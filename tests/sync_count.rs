//! How often a run syncs, counted from outside.
//!
//! The story of the bug: a sync more for each step, or a thread that hands records over, is not
//! seen in any result, only in the hours of a night.

use std::path::Path;
use std::process::Command;

use apollo_tests::child::{has_tool, output, said};
use apollo_tests::dir::{Dir, logs_in};
use apollo_tests::log::judge;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cost");

/// The fsync and fdatasync calls of one run of `what` in an Apollo directory.
fn syncs(dir: &Dir, what: &str) -> u64 {
    let trace = dir.path().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o"]);
    strace.arg(&trace).arg(PROGRAM).arg(what).arg(dir.apollo());
    let traced = output(&mut strace);
    assert!(traced.status.success(), "{}", said(&traced));
    let trace = std::fs::read_to_string(trace).unwrap();
    // A call that another thread interrupts on the screen is told in two lines.
    let calls = trace.lines().filter(|line| line.contains("sync(") && !line.contains("resumed>"));
    calls.count().try_into().unwrap()
}

fn check(what: &str, most: u64) {
    if !has_tool("strace") {
        println!("skipped: there is no strace");
        return;
    }
    let dir = Dir::new("sync-count");
    let fresh = syncs(&dir, what);
    let known = syncs(&dir, what);
    println!("{what}: {known} syncs, {fresh} in a directory that is made first");
    judge(&logs_in(Path::new(&dir.apollo())));
    assert!(known <= most, "{what}: {known} syncs, at most {most}");
    assert!(fresh <= most + 3, "{what}: {fresh} syncs, three more than {most} make the directory");
}

#[test]
fn a_chain_of_a_thousand_steps_syncs_once_a_step() {
    check("chain", 1_003);
}

#[test]
fn steps_that_end_together_share_a_sync() {
    check("fan", 300);
}
