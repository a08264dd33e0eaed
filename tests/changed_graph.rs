//! A run that another build began.

use apollo::{AdmissionError, Refusal, RunError};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::changed::{renamed, risen, v1, vanished};
use apollo_tests::pipelines::control::{options, ran, script};

fn half_done(word: &str) -> Dir {
    let dir = Dir::new(word);
    script(&dir, "last", "fail");
    assert!(v1::changing().run(&options(&dir)).is_err());
    assert_eq!(ran(&dir), ["load 0", "middle 0", "last 0"]);
    script(&dir, "last", "");
    dir
}

fn verdicts(result: Result<apollo::Summary, RunError>) -> String {
    let Err(RunError::Admission(AdmissionError::Refused {
        source: Refusal::ChangedGraph { verdicts },
    })) = result
    else {
        panic!("{result:?}")
    };
    verdicts.iter().map(|one| format!("{} {}", one.id, one.verdict)).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_renamed_step_keeps_its_state_its_output_and_its_files() {
    let dir = half_done("renamed");
    renamed::changing().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir), ["last 1"]);
    let log = Log::read(&dir.only_log());
    assert_eq!(log.headers()[1]["detail"]["renamed"], serde_json::json!({"fetch": "load"}));
    judge(&dir.logs());
}

#[test]
fn a_dependent_of_a_renamed_step_finds_the_file_of_the_old_one() {
    let dir = Dir::new("found");
    script(&dir, "middle", "fail");
    assert!(v1::changing().run(&options(&dir)).is_err());
    ran(&dir);
    script(&dir, "middle", "");
    let summary = renamed::changing().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir), ["middle 1", "last 0"]);
    assert_eq!(summary.steps.len(), 3);
    judge(&dir.logs());
}

#[test]
fn a_risen_version_runs_the_step_and_its_descendants_again_once_accepted() {
    let dir = half_done("risen");
    let before = dir.everything();
    let told = verdicts(risen::changing().run(&options(&dir)));
    assert_eq!(told, "load rerun, middle kept, last kept");
    let logs = |all: Vec<(String, Vec<u8>)>| {
        all.into_iter().filter(|(name, _)| name.ends_with(".jsonl")).collect::<Vec<_>>()
    };
    assert_eq!(logs(before), logs(dir.everything()), "a refused run keeps every byte");
    risen::changing().run(&options(&dir).accept_changes()).unwrap();
    assert_eq!(ran(&dir), ["load 1", "middle 1", "last 1"]);
    judge(&dir.logs());
}

#[test]
fn a_step_that_never_finished_does_not_become_green_by_vanishing() {
    let dir = half_done("vanished");
    let told = verdicts(vanished::changing().run(&options(&dir)));
    assert_eq!(told, "load kept, middle kept, other added, last removed");
    vanished::changing().run(&options(&dir).accept_changes()).unwrap();
    assert_eq!(ran(&dir), ["other 0"]);
    judge(&dir.logs());
}

#[test]
fn a_run_that_is_done_says_that_this_build_differs() {
    let dir = Dir::new("differs");
    v1::changing().run(&options(&dir)).unwrap();
    let summary = risen::changing().run(&options(&dir)).unwrap();
    assert!(summary.already_done && summary.graph_differs);
}
