//! The examples: each runs, is killed, goes on with the plain command, and ends as if nothing had
//! been.

use std::path::Path;
use std::process::Output;

use apollo_tests::child::{example, output, pipelines, said};
use apollo_tests::dir::{Dir, logs_in};
use apollo_tests::log::{Log, judge};

/// Runs an example in a directory.
fn run(dir: &Dir, name: &str, crash_at: Option<&str>, args: &[&str]) -> Output {
    let program = example(name);
    let mut command = pipelines(program.to_str().expect("UTF-8"), dir.path(), args);
    if let Some(at) = crash_at {
        command.env("APOLLO_CRASH_AT", at);
    }
    output(&mut command)
}

/// Artifacts and outputs: what must be the same after every crash.
fn result(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    let mut all = dir.content("artifacts");
    // The marks of `once` say how far it came, and that is no result.
    all.extend(dir.content("state").into_iter().filter(|(name, _)| !name.starts_with("once/")));
    all
}

/// How many operations change the disk in an undisturbed run, and what it leaves.
fn undisturbed(name: &str) -> (u64, Vec<(String, Vec<u8>)>) {
    let dir = Dir::new(name);
    let count = dir.path().join("count");
    let at = format!("count:{}", count.display());
    let ran = run(&dir, name, Some(&at), &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    judge(&dir.logs());
    let operations = std::fs::read_to_string(count).unwrap().trim().parse().unwrap();
    (operations, result(&dir))
}

fn killed_and_resumed(name: &str, moments: u64) {
    let (operations, expected) = undisturbed(name);
    let moments = moments.min(operations);
    let mut dirs = Vec::new();
    for moment in 0..moments {
        let at = 1 + moment * operations / moments;
        let how = if moment % 2 == 0 { format!("{at}") } else { format!("{at}:torn") };
        let dir = Dir::new(name);
        let killed = run(&dir, name, Some(&how), &[]);
        assert!(!killed.status.success(), "{name} dies at {how}: {}", said(&killed));
        let resumed = run(&dir, name, None, &[]);
        assert!(resumed.status.success(), "{name} at {how}: {}", said(&resumed));
        assert_eq!(result(&dir), expected, "{name} at {how}");
        let log = Log::read(&dir.only_log());
        for step in log.headers()[0]["detail"]["steps"].as_array().unwrap() {
            let id = step["id"].as_str().unwrap();
            let successes = log.count(id, "STEP_END", "SUCCESS");
            let optional = step["optional"] == true;
            assert!(successes == 1 || (optional && successes == 0), "{name} at {how}: {id}");
        }
        dirs.push(dir);
    }
    let logs: Vec<_> = dirs.iter().map(Dir::only_log).collect();
    judge(&logs);
}

#[test]
fn the_daily_pipeline_is_killed_at_forty_moments_and_ends_the_same() {
    killed_and_resumed("daily_pipeline", 40);
}

#[test]
fn every_other_example_is_killed_and_ends_the_same() {
    for name in
        ["async_parallel", "cleanup_after_kill", "retry_and_optional", "steps_from_another_crate"]
    {
        killed_and_resumed(name, 5);
    }
}

#[test]
fn the_library_face_does_the_work_once() {
    let dir = Dir::new("library_face");
    let ran = run(&dir, "library_face", None, &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    judge(&dir.logs());
}

#[test]
fn a_step_that_is_not_idempotent_is_told_as_the_documentation_shows() {
    let dir = Dir::new("crash_everywhere");
    let program = example("crash_everywhere");
    let mut command = pipelines(program.to_str().expect("UTF-8"), dir.path(), &[]);
    let ran = output(command.env("TMPDIR", dir.path()));
    assert!(ran.status.success(), "{}", said(&ran));
    // The directory that is kept is another one each time.
    let stable = |line: &&str| !line.starts_with("  kept: ");
    let lines = |text: &str| text.lines().filter(stable).collect::<Vec<_>>().join("\n");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(here.join("../README.md")).unwrap();
    assert!(lines(&readme).contains(&lines(&said(&ran))), "README.md shows not\n{}", said(&ran));
    let said = said(&ran);
    let kept = said.lines().find_map(|line| line.strip_prefix("  kept: ")).unwrap();
    judge(&logs_in(Path::new(kept)));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "only what is told is kept");
}

#[test]
fn a_second_run_says_that_it_is_done_and_new_runs_again() {
    let dir = Dir::new("daily_pipeline");
    for (args, logs, words) in [
        (vec![], 1, "4 of 4 steps done"),
        (vec![], 1, "nothing was run"),
        (vec!["run", "--new"], 2, "4 of 4 steps done"),
    ] {
        let ran = run(&dir, "daily_pipeline", None, &args);
        assert!(ran.status.success() && said(&ran).contains(words), "{}", said(&ran));
        assert_eq!(dir.logs().len(), logs);
    }
    judge(&dir.logs());
}

#[test]
fn days_that_fail_and_that_degrade_say_so() {
    let dir = Dir::new("daily_pipeline");
    for (date, code, words) in [
        ("2010-03-14", 0, "degraded: done without optional steps: `notify`"),
        ("2010-11-07", 0, "steps done"),
        ("2011-01-01", 1, "has no reading of 2011-01-01"),
        ("yesterday", 2, "yesterday"),
    ] {
        let ran = run(&dir, "daily_pipeline", None, &["--task-date", date]);
        assert_eq!(ran.status.code(), Some(code), "{date}: {}", said(&ran));
        assert!(said(&ran).contains(words), "{date}: {}", said(&ran));
    }
    judge(&dir.logs());
}

#[test]
fn the_picture_in_the_documentation_is_what_the_program_draws() {
    let dir = Dir::new("daily_pipeline");
    let drawn = run(&dir, "daily_pipeline", None, &["graph"]);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = std::fs::read_to_string(here.join("../examples/daily_pipeline.graph.txt")).unwrap();
    assert_eq!(said(&drawn), kept, "`daily_pipeline graph` makes the file anew");
}

#[test]
fn every_example_is_short_and_is_run_here() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = std::fs::read_to_string(here.join("examples.rs")).unwrap();
    for entry in std::fs::read_dir(here.join("../examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(tests.contains(&format!("\"{name}\"")), "{name} is run by no test");
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines < 80, "{name} has {lines} lines");
        }
    }
}
