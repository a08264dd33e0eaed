//! Parameters are typed, frozen when a run begins, and secret where they are declared so.

use apollo::{AdmissionError, RunError};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::options;
use apollo_tests::pipelines::small::params;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

#[test]
fn values_are_in_the_header_and_in_the_task_id_and_secrets_nowhere() {
    let dir = Dir::new("header");
    let given = options(&dir).param("token", "t0ps3cret").param("limit", "007");
    let summary = params().run(&given).unwrap();
    let log = Log::read(&summary.log);
    let header = log.headers()[0]["detail"]["params"].clone();
    assert_eq!(header, serde_json::json!({"day": "2010-07-04", "limit": "7", "token": null}));
    for (name, bytes) in dir.everything() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for secret in ["t0ps3cret", "dDBwczNjcmV0"] {
            assert!(!text.contains(secret) && !name.contains(secret), "{name}");
        }
    }
    judge(&dir.logs());
}

#[test]
fn a_value_of_a_run_that_was_begun_is_frozen() {
    let dir = Dir::new("frozen");
    let mine = |limit: &str| {
        let options = options(&dir).task_id("mine").unwrap();
        options.param("token", "x").param("limit", limit)
    };
    params().run(&mine("5")).unwrap();
    let changed = params().run(&mine("6"));
    let Err(RunError::Admission(AdmissionError::FrozenParam { name, frozen, given })) = changed
    else {
        panic!("{changed:?}")
    };
    assert_eq!((name.as_str(), frozen.as_str(), given.as_str()), ("limit", "5", "6"));
    assert!(params().run(&mine("6").fresh()).is_ok());
}

#[test]
fn every_bad_value_is_told_before_anything_is_written() {
    let dir = Dir::new("bad");
    let bad = options(&dir).param("day", "yesterday").param("limit", "-1").param("limt", "1");
    let refused = params().run(&bad).unwrap_err();
    let Some(AdmissionError::Params { errors }) = (match &refused {
        RunError::Admission(error) => Some(error),
        _ => None,
    }) else {
        panic!("{refused:?}")
    };
    let named: Vec<_> = errors.iter().map(|error| error.name.as_str()).collect();
    assert_eq!(named, ["day", "limit", "limt"]);
    assert!(!dir.apollo().exists());
}

#[test]
fn the_command_line_has_an_option_for_each_parameter() {
    let dir = Dir::new("options");
    let run = |args: &[&str]| {
        let mut command = pipelines(PROGRAM, dir.path(), &[&["run", "params"], args].concat());
        output(command.env("APOLLO_PARAM_TOKEN", "t0ps3cret"))
    };
    let done = run(&["--day", "2012-06-01", "--limit", "3"]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(!said(&done).contains("t0ps3cret"));
    let bad = run(&["--day", "2012-06-31"]);
    assert_eq!(bad.status.code(), Some(2), "{}", said(&bad));
    let unknown = run(&["--dya", "2012-06-01"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
    assert!(said(&unknown).contains("--dya"), "{}", said(&unknown));
}
