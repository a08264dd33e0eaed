//! Durability `batch`: a thread syncs late records and runs no step.
//!
//! The story: that thread was the first to lead a commit, took itself for one that would run the
//! only step that was ready, and woke nobody; the run hung before its first body, three times of
//! three with a row of 4,000 steps and 64 workers.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use apollo::{Notice, Observer, RunOptions};
use apollo_tests::child::PATIENCE;
use apollo_tests::dir::Dir;
use apollo_tests::log::judge;
use apollo_tests::pipelines::small::late;

/// Holds the first commit up until every worker is there and waits.
#[derive(Debug)]
struct Slow;

impl Observer for Slow {
    fn notice(&self, notice: Notice<'_>) {
        if matches!(notice, Notice::Record(record) if record.seq == 0) {
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }
}

#[test]
fn who_only_syncs_wakes_somebody_who_runs() {
    for _ in 0..5 {
        let dir = Dir::new("late");
        let options = RunOptions::new().dir(dir.apollo()).observer(Arc::new(Slow));
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send(late().run(&options).is_ok()));
        assert_eq!(told.recv_timeout(PATIENCE), Ok(true), "it hangs");
        judge(&dir.logs());
    }
}
