//! What Apollo costs on top of the disk: a chain and a fan of 1,000 steps that do nothing, against a
//! bare loop that appends a line and syncs it, all in one process and in turns.
//!
//! It prints ratios and judges nothing. `cost chain DIR` and `cost fan DIR` run one of them once,
//! for counting its system calls from outside.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use apollo::{RunOptions, Task};
use apollo_tests::dir::Dir;
use apollo_tests::pipelines::thousand::{thousand_in_a_row, thousand_side_by_side};

const ROUNDS: usize = 7;

/// A chain of 1,000 steps commits 1,001 times, each time about so many bytes.
const COMMITS: usize = 1_001;
const COMMIT_BYTES: usize = 790;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["chain", dir] => drop(run(&thousand_in_a_row(), Path::new(dir))),
        ["fan", dir] => drop(run(&thousand_side_by_side(), Path::new(dir))),
        [] => compare(),
        _ => panic!("usage: cost [chain DIR | fan DIR]"),
    }
}

fn run(task: &Task, dir: &Path) -> Duration {
    let began = Instant::now();
    let summary = task.run(&RunOptions::new().dir(dir).fresh()).expect("a run");
    assert_eq!(summary.attempts, 1_000);
    began.elapsed()
}

/// Appends and syncs, as often as a chain commits, and nothing else.
fn bare(dir: &Path) -> Duration {
    let path = dir.join("bare");
    drop(fs::remove_file(&path));
    let began = Instant::now();
    let mut file = OpenOptions::new().append(true).create_new(true).open(&path).expect("a file");
    for _ in 0..COMMITS {
        file.write_all(&[b'x'; COMMIT_BYTES]).expect("room");
        file.sync_data().expect("a disk");
    }
    began.elapsed()
}

fn compare() {
    let dir = Dir::new("cost");
    let (chain, fan) = (thousand_in_a_row(), thousand_side_by_side());
    let mut rounds: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let bare = bare(dir.path());
            (bare, run(&chain, &dir.apollo()), run(&fan, &dir.apollo()))
        })
        .collect();
    for (name, pick) in [("chain", 1), ("fan, 16 at once", 2)] {
        let time =
            |round: &(Duration, Duration, Duration)| if pick == 1 { round.1 } else { round.2 };
        rounds.sort_by(|a, b| ratio(time(a), a.0).total_cmp(&ratio(time(b), b.0)));
        let ratios: Vec<_> = rounds.iter().map(|round| ratio(time(round), round.0)).collect();
        let middle = &rounds[ROUNDS / 2];
        println!(
            "{name}: {:.0} ms for 1,000 steps, {:.2} of the bare loop of {COMMITS} \
             ({:.0} ms); {:.2} to {:.2} in {ROUNDS} rounds",
            time(middle).as_secs_f64() * 1e3,
            ratios[ROUNDS / 2],
            middle.0.as_secs_f64() * 1e3,
            ratios[0],
            ratios[ROUNDS - 1],
        );
    }
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
