//! The command line, seen as a person and as a program see it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Output;

use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::pipelines::control::{begun, ran, script};
use serde_json::Value;

fn run(dir: &Dir, args: &[&str]) -> Output {
    output(&mut pipelines(env!("CARGO_BIN_EXE_pipelines"), dir.path(), args))
}

fn check(dir: &Dir, args: &[&str], code: i32, parts: &[&str]) -> String {
    let ended = run(dir, args);
    let said = said(&ended);
    assert_eq!(ended.status.code(), Some(code), "{args:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in what {args:?} said: {said}");
    }
    said
}

#[test]
fn a_run_says_what_it_does_and_a_second_one_that_it_is_done() {
    let dir = Dir::new("says");
    check(&dir, &["run", "row"], 0, &["first", "second", "third", "SUCCESS"]);
    check(&dir, &["run", "row"], 0, &["nothing was run", "--new"]);
    assert_eq!(ran(&dir).len(), 3);
    check(&dir, &["run", "row", "--new"], 0, &["SUCCESS"]);
    assert_eq!((ran(&dir).len(), dir.logs().len()), (3, 2));
}

#[test]
fn a_failed_task_exits_with_one_and_names_the_step() {
    let dir = Dir::new("fails");
    script(&dir, "second", "fail");
    check(&dir, &["run", "row"], 1, &["second", "as it was told", "inspect"]);
    check(&dir, &["inspect", "row"], 0, &["second", "FAILED", "third", "PENDING"]);
    check(&dir, &["run", "row", "--skip", "second"], 0, &["SKIPPED"]);
}

#[test]
fn wrong_usage_exits_with_two_and_touches_nothing() {
    let dir = Dir::new("usage");
    for args in [
        &["run", "rwo"][..],
        &["run", "row", "--max-parallel", "0"],
        &["run", "row", "--task-id", "../x"],
        &["run", "row", "--resume-from", "fourth"],
        &["fly"],
        &["run", "row", "--no-such-option"],
    ] {
        let ended = run(&dir, args);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {}", said(&ended));
        assert!(dir.logs().is_empty(), "{args:?}");
    }
}

#[test]
fn reading_commands_change_no_byte_not_even_of_a_live_run() {
    let dir = Dir::new("reads");
    script(&dir, "second", "hang");
    let program = env!("CARGO_BIN_EXE_pipelines");
    let child = pipelines(program, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "second");
    let before = dir.everything();
    let times = || {
        let logs = fs::read_dir(dir.apollo().join("logs")).unwrap();
        logs.map(|one| one.unwrap().metadata().unwrap().modified().unwrap()).collect::<Vec<_>>()
    };
    let stamps = times();
    check(&dir, &["run", "row", "--dry-run"], 0, &["a process works on it now"]);
    for args in [
        &["run", "row", "--dry-run"][..],
        &["inspect", "row"],
        &["inspect"],
        &["list"],
        &["graph", "row"],
        &["check"],
        &["inspect", "row", "--json"],
        &["verify"],
        &["verify", "row"],
        &["repair", "row", "--dry-run"],
    ] {
        check(&dir, args, 0, &[]);
    }
    assert_eq!(before, dir.everything());
    assert_eq!(stamps, times());
    script(&dir, "second.go", "");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn reading_commands_make_no_directory() {
    let dir = Dir::new("nothing");
    for args in [
        &["run", "row", "--dry-run"][..],
        &["inspect"],
        &["list"],
        &["check"],
        &["verify"],
        &["repair", "row"],
    ] {
        run(&dir, args);
        assert!(!dir.apollo().exists(), "{args:?}");
    }
}

#[test]
fn json_is_json_line_for_line() {
    let dir = Dir::new("json");
    for args in [
        &["run", "row", "--json"][..],
        &["inspect", "row", "--json"],
        &["inspect", "--json"],
        &["list", "--json"],
        &["check", "--json"],
        &["verify", "row", "--json"],
        &["run", "row", "--new", "--dry-run", "--json"],
    ] {
        let ended = run(&dir, args);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {}", said(&ended));
        let text = String::from_utf8(ended.stdout).unwrap();
        let whole = serde_json::from_str::<Value>(&text).is_ok();
        let lines = text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok());
        assert!(!text.is_empty() && (whole || lines), "{args:?}: {text}");
    }
}

#[test]
fn control_characters_of_a_message_are_shown_escaped() {
    let dir = Dir::new("escaped");
    let told = check(&dir, &["run", "long_message"], 1, &[]);
    let inspected = check(&dir, &["inspect", "long_message"], 0, &[]);
    for text in [told, inspected] {
        assert!(!text.contains(['\u{1b}', '\0']), "a raw control character");
    }
}

#[test]
fn verify_finds_what_was_altered() {
    let dir = Dir::new("verify");
    check(&dir, &["run", "row"], 0, &[]);
    check(&dir, &["verify", "row"], 0, &[]);
    let state = fs::read_dir(dir.apollo().join("state")).unwrap().next().unwrap().unwrap().path();
    fs::write(state.join("second.json"), "\"else\"").unwrap();
    check(&dir, &["verify", "row"], 3, &["second"]);
}

#[test]
fn a_damaged_log_is_success_in_no_list() {
    let dir = Dir::new("damaged");
    check(&dir, &["run", "row"], 0, &["SUCCESS"]);
    let log = dir.only_log();
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&log, bytes).unwrap();
    let said = check(&dir, &["inspect"], 0, &["damaged", "corrupt"]);
    assert!(!said.contains("SUCCESS"), "{said}");
    check(&dir, &["inspect", "row"], 3, &["corrupt"]);
    check(&dir, &["verify", "row"], 3, &["corrupt"]);
    check(&dir, &["run", "row"], 3, &["corrupt"]);
}

#[test]
fn an_unsafe_directory_is_refused_and_a_link_to_a_safe_one_is_not() {
    let dir = Dir::new("unsafe");
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    symlink(&open, dir.apollo()).unwrap();
    check(&dir, &["run", "row"], 3, &["can be written by other users"]);
    fs::set_permissions(&open, fs::Permissions::from_mode(0o700)).unwrap();
    check(&dir, &["run", "row"], 0, &[]);
    assert!(open.join("logs").is_dir());
    for entry in fs::read_dir(open.join("logs")).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn no_folder_of_the_directory_may_be_somebody_elses_to_write() {
    for folder in ["logs", "state", "artifacts", "output"] {
        let dir = Dir::new("folder");
        let open = dir.path().join("open");
        fs::create_dir_all(&open).unwrap();
        fs::create_dir(dir.apollo()).unwrap();
        fs::set_permissions(dir.apollo(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        symlink(&open, dir.apollo().join(folder)).unwrap();
        check(&dir, &["run", "row"], 3, &[folder, "can be written by other users"]);
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let dir = Dir::new("pipe");
    check(&dir, &["run", "row"], 0, &[]);
    let program = env!("CARGO_BIN_EXE_pipelines");
    let mut child = pipelines(program, dir.path(), &["inspect", "row"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}
