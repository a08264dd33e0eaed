//! Optional steps: the task succeeds without them, degraded, and says so.

use apollo::{RunError, Status};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::{options, ran, script};
use apollo_tests::pipelines::scripted::diamond;

#[test]
fn a_task_succeeds_without_its_optional_steps_and_is_degraded() {
    let dir = Dir::new("degraded");
    script(&dir, "d", "fail");
    script(&dir, "e", "permanent");
    let summary = diamond().run(&options(&dir)).unwrap();
    assert_eq!(summary.status, Status::Success);
    assert_eq!(summary.degraded.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["d", "e"]);
    assert_eq!(summary.steps.iter().filter(|(_, status)| *status == Status::Success).count(), 6);
    let log = Log::read(&dir.only_log());
    let closing = log.records.last().unwrap();
    assert_eq!(closing["detail"]["degraded"], serde_json::json!(["d", "e"]));
    assert_eq!(closing["detail"]["counts"], serde_json::json!({"FAILED": 2, "SUCCESS": 6}));
    assert_eq!(log.count("d", "STEP_START", "RUNNING"), 2, "it is retried first");
    judge(&dir.logs());
}

#[test]
fn a_required_step_that_fails_lets_the_others_finish() {
    let dir = Dir::new("required");
    script(&dir, "b", "permanent");
    let Err(RunError::Failed { summary }) = diamond().run(&options(&dir)) else { panic!() };
    let told: Vec<_> = summary.steps.iter().map(|(id, status)| format!("{id} {status}")).collect();
    assert_eq!(
        told,
        [
            "a SUCCESS",
            "b FAILED",
            "c SUCCESS",
            "d SUCCESS",
            "e PENDING",
            "f SUCCESS",
            "g PENDING",
            "h PENDING"
        ]
    );
    // `b` alone is missing.
    ran(&dir);
    script(&dir, "b", "");
    diamond().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir)[0], "b 1");
    judge(&dir.logs());
}

#[test]
fn the_command_line_says_that_a_success_is_degraded() {
    let dir = Dir::new("said");
    script(&dir, "d", "permanent");
    let done =
        output(&mut pipelines(env!("CARGO_BIN_EXE_pipelines"), dir.path(), &["run", "diamond"]));
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(String::from_utf8_lossy(&done.stderr).contains("degraded"), "{}", said(&done));
}
