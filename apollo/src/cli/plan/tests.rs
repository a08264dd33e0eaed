use std::path::{Path, PathBuf};

use super::super::sample::{broken, daily};
use super::*;
use crate::digest::Digest;
use crate::disk::{Disk as _, RealDisk, digest_of};

/// A fresh directory for a test; the test removes it.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("apollo-plan-{name}-{}", std::process::id()));
    drop(RealDisk.remove_dir_all(&path));
    path
}

/// Every path below a directory with the digest of its bytes.
fn content(dir: &Path) -> BTreeMap<PathBuf, Option<Digest>> {
    let mut found = BTreeMap::new();
    for name in RealDisk.list(dir).unwrap_or_default() {
        let path = dir.join(name);
        if RealDisk.metadata(&path).unwrap().is_dir {
            found.extend(content(&path));
            found.insert(path, None);
        } else {
            let (digest, _bytes) = digest_of(&RealDisk, &path).unwrap();
            found.insert(path, Some(digest));
        }
    }
    found
}

fn check(task: &Task, options: &RunOptions, expected: &str) {
    let plan = task.plan(options).unwrap();
    let dry_run = describe(task, options, &plan);
    let lines = render(task, &dry_run, Palette::PLAIN);
    let steps: Vec<_> = lines.iter().filter(|line| line.starts_with("   ")).cloned().collect();
    let expected: Vec<_> = expected.trim_matches('\n').lines().collect();
    assert_eq!(steps, expected);
}

#[test]
fn a_directory_that_is_not_there_is_not_made() {
    let dir = directory("missing");
    let options = RunOptions::new().dir(&dir);
    check(
        &daily(),
        &options,
        "
   1  run  fetch  never ran  2 retries after 1 ms
   2  run  left   never ran
   3  run  right  never ran  optional
   4  run  join   never ran
",
    );
    assert!(RealDisk.metadata(&dir).is_err());
}

#[test]
fn a_failed_run_is_explained_and_left_as_it_is() {
    let dir = directory("failed");
    let options = RunOptions::new().dir(&dir);
    broken().run(&options).unwrap_err();
    let before = content(&dir);
    assert!(!before.is_empty());
    check(
        &broken(),
        &options,
        "
   1  keep  fetch  finished
   2  run   left   failed: broken\\u{1b}[2J  cleanup first
   3  run   right  failed: broken\\u{1b}[2J  optional
   4  run   join   never ran
",
    );
    let from = options.clone().resume_from("join").unwrap();
    check(
        &broken(),
        &from,
        "
   1  keep  fetch  finished
   2  skip  left   --resume-from join
   3  skip  right  --resume-from join
   4  run   join   never ran
",
    );
    assert_eq!(content(&dir), before);
    RealDisk.remove_dir_all(&dir).unwrap();
}

#[test]
fn a_done_run_says_so() {
    let dir = directory("done");
    let options = RunOptions::new().dir(&dir);
    daily().run(&options).unwrap();
    let before = content(&dir);
    let plan = daily().plan(&options).unwrap();
    let lines = render(&daily(), &describe(&daily(), &options, &plan), Palette::PLAIN);
    assert!(lines.first().is_some_and(|line| line.contains("is done; `--new`")), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("0 steps would run, 4 kept, 0 skipped"));
    assert_eq!(content(&dir), before);
    RealDisk.remove_dir_all(&dir).unwrap();
}
