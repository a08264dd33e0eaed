//! The files that steps leave.

use std::fs;
use std::io::Write as _;

use apollo::{Artifact, Context, Result, StepError, step, task};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::options;
use apollo_tests::pipelines::scripted::home;

/// Leaves a file at each attempt, and fails while the file `fail` is there.
#[step]
fn leaving(ctx: &Context) -> Result<Artifact> {
    let mut file = ctx.artifact("it.txt")?;
    writeln!(file, "attempt {}", ctx.retry_count())?;
    let left = file.finish()?;
    // What is not finished is no artifact.
    let mut half = ctx.artifact("half.txt")?;
    half.write_all(b"half")?;
    drop(half);
    if home(ctx)?.join("fail").exists() {
        return Err(StepError::new("after the file was written"));
    }
    Ok(left)
}

task! { leaves { steps: [leaving] } }

#[step]
fn escaping(ctx: &Context) -> Result<Vec<String>> {
    let bad = ["../x", "/etc/passwd", "a/b", "", ".", "..", ".hidden", "-rf", "a\0b", "a b", "a\n"];
    let tell = |name: &&str| match ctx.artifact(name) {
        Ok(_) => (*name).to_owned(),
        Err(_) => String::new(),
    };
    let mut taken: Vec<_> = bad.iter().map(tell).filter(|name| !name.is_empty()).collect();
    taken.extend(ctx.artifact(&"x".repeat(101)).is_ok().then(|| "101 letters".to_owned()));
    Ok(taken)
}

task! { escapes { steps: [escaping] } }

#[test]
fn a_failed_attempt_leaves_nothing_and_a_later_one_replaces_what_was_there() {
    let dir = Dir::new("leaves");
    fs::write(dir.path().join("fail"), "").unwrap();
    assert!(leaves().run(&options(&dir)).is_err());
    let published = |dir: &Dir| -> Vec<_> {
        let all = dir.content("artifacts").into_iter();
        all.filter(|(name, _)| !name.starts_with(".staging")).collect()
    };
    assert_eq!(published(&dir), []);
    fs::remove_file(dir.path().join("fail")).unwrap();
    leaves().run(&options(&dir)).unwrap();
    assert_eq!(dir.content("artifacts"), [("leaving/it.txt".to_owned(), b"attempt 1\n".to_vec())]);
    leaves().run(&options(&dir).resume_from("leaving").unwrap()).unwrap();
    assert_eq!(published(&dir)[0].1, b"attempt 2\n");
    let log = Log::read(&dir.only_log());
    let entry = &log.of("leaving").last().unwrap()["detail"]["artifacts"];
    assert_eq!(entry["it.txt"]["bytes"], 10);
    assert!(entry["half.txt"].is_null());
    judge(&dir.logs());
}

#[test]
fn a_name_that_could_leave_the_directory_is_refused() {
    let dir = Dir::new("escapes");
    escapes().run(&options(&dir)).unwrap();
    assert_eq!(dir.content("state"), [("escaping.json".to_owned(), b"[]".to_vec())]);
}
