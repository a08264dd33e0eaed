//! Real processes in a storm: raced, killed, failed by the kernel, cut off the power.
//!
//! The story of the bug: a double of the disk knows what its author knew. Here a real kernel, a real
//! file system and real signals say what happens; each storm is short, and the program `storm`
//! lets it blow as long as one likes.

use std::process::Command;

use apollo_tests::child::{has_tool, output, said};
use apollo_tests::storm::{inject, kill, race};

const PROGRAM: &str = env!("CARGO_BIN_EXE_storm");

#[test]
fn two_processes_that_race_for_one_run_share_it() {
    println!("{}", race::race(PROGRAM, 20, 10));
}

#[test]
fn two_processes_that_race_without_locks_are_found_out() {
    if !has_tool("strace") {
        println!("there is no strace, so no lock is left out");
        return;
    }
    let found = race::race_without_locks(PROGRAM, 20);
    println!("without locks, the race and what it broke: {found:?}");
    assert!(found.is_some());
}

#[test]
fn killed_at_random_moments_again_and_again_the_plain_command_finishes_the_work() {
    println!("{}", kill::storm(PROGRAM, 20, 0));
}

#[test]
fn whatever_system_call_fails_or_is_the_last_the_plain_command_finishes_the_work() {
    if !has_tool("strace") {
        println!("there is no strace, so no system call fails");
        return;
    }
    let calls = ["write", "pwrite64", "fdatasync", "fsync", "mkdir", "rename", "ftruncate"];
    println!("{}", inject::inject(PROGRAM, &calls, 2, 11));
}

/// Tells what came of power cuts on a file system, or why there are none here.
fn cuts(file_system: &str) {
    let cuts = output(Command::new(PROGRAM).args(["cut", file_system, "8"]));
    println!("{}", said(&cuts));
    assert!(cuts.status.success());
}

#[test]
fn a_power_cut_on_ext4_takes_nothing_that_was_acknowledged() {
    cuts("ext4");
}

#[test]
fn a_power_cut_on_xfs_takes_nothing_that_was_acknowledged() {
    cuts("xfs");
}
