//! Going on with a run, beginning a new one, and what runs again.

use std::fs;
use std::sync::Arc;

use apollo::testing::{Fault, SimDisk};
use apollo::{AdmissionError, Refusal, RunError, RunOptions, Status, Summary, step, task};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::{options, ran, script};
use apollo_tests::pipelines::scripted::{diamond, row};
use apollo_tests::pipelines::small::artifacts;
use rustix::io::Errno;

#[step]
fn begin() -> u32 {
    7
}

#[step(depends_on = [begin])]
fn end(begin: &u32) -> u32 {
    begin * 2
}

task! { brief { steps: [begin, end] } }

#[test]
fn a_failed_run_goes_on_where_it_failed() {
    let dir = Dir::new("failed");
    script(&dir, "second", "fail");
    let Err(RunError::Failed { summary }) = row().run(&options(&dir)) else { panic!("it fails") };
    assert_eq!(
        summary.steps.iter().map(|step| step.1).collect::<Vec<_>>(),
        [Status::Success, Status::Failed, Status::Pending]
    );
    assert_eq!(ran(&dir), ["first 0", "second 0"]);
    script(&dir, "second", "");
    let summary = row().run(&options(&dir)).unwrap();
    assert_eq!((summary.epoch, summary.attempts), (1, 2));
    assert_eq!(ran(&dir), ["second 1", "third 0"]);
    judge(&dir.logs());
}

#[test]
fn a_run_that_is_done_runs_nothing_and_changes_no_byte() {
    let dir = Dir::new("done");
    row().run(&options(&dir)).unwrap();
    ran(&dir);
    let before = dir.everything();
    let summary = row().run(&options(&dir)).unwrap();
    assert!(summary.already_done && !summary.graph_differs);
    assert_eq!((summary.attempts, ran(&dir).len()), (0, 0));
    let logs = |all: &[(String, Vec<u8>)]| {
        all.iter().filter(|(name, _)| !name.ends_with(".lock")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(logs(&before), logs(&dir.everything()));
}

#[test]
fn a_run_that_somebody_was_told_is_done_stays_so_after_a_power_cut() {
    let run = |disk: &SimDisk| -> Result<Summary, RunError> {
        brief().run(&RunOptions::new().dir("/.apollo").disk(Arc::new(disk.clone())))
    };
    let whole = SimDisk::new(0);
    run(&whole).unwrap();
    let mut found_done = 0;
    for at in 1..=whole.operations() {
        for fault in [Fault::Dead, Fault::Fail(Errno::IO)] {
            let disk = SimDisk::new(at);
            disk.fault(at, fault);
            drop(run(&disk));
            // The machine goes on, so what was not synced is still to be read.
            let next = disk.kill();
            let told = run(&next).unwrap();
            found_done += u32::from(told.already_done);
            for _cut in 0..8 {
                let after = run(&next.cut_power()).unwrap();
                assert!(after.already_done, "{fault:?} at {at}: {:?}", after.steps);
            }
        }
    }
    assert!(found_done > 1, "a last commit that was written and not synced is among them");
}

#[test]
fn a_fresh_run_begins_a_log_of_its_own() {
    let dir = Dir::new("fresh");
    let first = row().run(&options(&dir)).unwrap();
    let second = row().run(&options(&dir).fresh()).unwrap();
    assert!(second.run_id > first.run_id);
    assert_eq!(dir.logs().len(), 2);
    assert_eq!(ran(&dir).len(), 6);
    judge(&dir.logs());
}

#[test]
fn resume_from_runs_a_step_and_its_descendants_again() {
    let dir = Dir::new("from");
    row().run(&options(&dir)).unwrap();
    ran(&dir);
    let summary = row().run(&options(&dir).resume_from("second").unwrap()).unwrap();
    assert_eq!(ran(&dir), ["second 1", "third 1"]);
    assert_eq!(summary.epoch, 1);
    let log = Log::read(&dir.only_log());
    let detail = &log.headers()[1]["detail"];
    assert_eq!(detail["reason"], "resume_from");
    assert_eq!(detail["rerun"], serde_json::json!(["second", "third"]));
    assert!(log.warnings().contains("resumed from `second`"), "{}", log.warnings());
    judge(&dir.logs());
}

#[test]
fn resume_from_skips_unfinished_ancestors_on_record() {
    let dir = Dir::new("ancestors");
    script(&dir, "a", "fail");
    row_of_diamond(&dir);
    // Nothing takes a value here, so a step can do without its ancestors.
    let summary = diamond().run(&options(&dir).resume_from("g").unwrap()).unwrap();
    let skipped: Vec<_> = summary
        .steps
        .iter()
        .filter(|(_, status)| *status == Status::Skipped)
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(skipped, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(ran(&dir), ["g 0", "h 0"]);
    let log = Log::read(&dir.only_log());
    assert_eq!(log.of("a").last().unwrap()["detail"]["reason"], "--resume-from g");
    judge(&dir.logs());
}

fn row_of_diamond(dir: &Dir) {
    assert!(matches!(diamond().run(&options(dir)), Err(RunError::Failed { .. })));
    assert_eq!(ran(dir), ["a 0"]);
}

#[test]
fn a_step_whose_input_is_skipped_and_was_never_made_is_refused_before_anything_starts() {
    let dir = Dir::new("missing");
    let refused = artifacts().run(&options(&dir).skip("made").unwrap());
    let Err(RunError::Admission(AdmissionError::Refused { source })) = refused else {
        panic!("{refused:?}")
    };
    assert!(matches!(source, Refusal::MissingOutput { .. }));
    assert!(dir.logs().is_empty(), "nothing was begun");
}

#[test]
fn a_skipped_step_is_on_record_and_its_dependents_run() {
    let dir = Dir::new("skip");
    // The third waits for nobody any more.
    let one = options(&dir).max_parallel(1);
    let summary = row().run(&one.skip("second").unwrap()).unwrap();
    assert_eq!(ran(&dir), ["first 0", "third 0"]);
    assert_eq!(summary.steps[1].1, Status::Skipped);
    let log = Log::read(&dir.only_log());
    assert_eq!(log.of("second").count(), 1);
    judge(&dir.logs());
}

fn half_done(word: &str) -> Dir {
    let dir = Dir::new(word);
    script(&dir, "used", "fail");
    assert!(artifacts().run(&options(&dir)).is_err());
    script(&dir, "used", "");
    dir
}

fn file(dir: &Dir, folder: &str, name: &str) -> std::path::PathBuf {
    let root = dir.apollo().join(folder);
    let run = fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    run.join(name)
}

/// What was damaged is made again, and the header says why.
fn made_again(dir: &Dir, why: &str) {
    let summary = artifacts().run(&options(dir)).unwrap();
    assert_eq!(summary.attempts, 2, "`made` and `used`");
    let log = Log::read(&dir.only_log());
    assert_eq!(log.headers()[1]["detail"]["rerun"], serde_json::json!(["made"]));
    assert!(log.warnings().contains(why), "{}", log.warnings());
    assert_eq!(dir.content("artifacts").last().unwrap().1, b"made\n");
    judge(&dir.logs());
}

#[test]
fn a_lost_output_is_made_again() {
    let dir = half_done("lost");
    fs::remove_file(file(&dir, "state", "made.json")).unwrap();
    made_again(&dir, "is missing");
}

#[test]
fn an_altered_output_is_made_again() {
    let dir = half_done("altered");
    fs::write(file(&dir, "state", "made.json"), "{}").unwrap();
    made_again(&dir, "was altered");
}

#[test]
fn an_altered_artifact_is_made_again() {
    let dir = half_done("artifact");
    fs::write(file(&dir, "artifacts", "made/made.txt"), "mAde\n").unwrap();
    made_again(&dir, "was altered");
}

#[test]
fn a_lost_artifact_is_made_again() {
    let dir = half_done("gone");
    fs::remove_file(file(&dir, "artifacts", "made/made.txt")).unwrap();
    made_again(&dir, "is missing");
}

#[test]
fn a_log_without_a_record_is_a_run_that_never_began() {
    let dir = Dir::new("empty");
    let logs = dir.apollo().join("logs");
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("task_row_1700000000.jsonl"), "").unwrap();
    let summary = row().run(&options(&dir)).unwrap();
    assert_eq!(summary.run_id.as_str(), "task_row_1700000000");
    judge(&dir.logs());
}

#[test]
fn a_plan_reads_and_writes_nothing() {
    let dir = half_done("plan");
    let before = dir.everything();
    let plan = artifacts().plan(&options(&dir)).unwrap();
    let opening = plan.opening.unwrap();
    assert_eq!((plan.done, opening.runs.len()), (false, 1));
    assert_eq!(before, dir.everything());
    let nowhere = dir.path().join("nowhere");
    artifacts().plan(&RunOptions::new().dir(&nowhere)).unwrap();
    assert!(!nowhere.exists());
}

#[test]
fn a_task_id_belongs_to_one_task() {
    let dir = Dir::new("owner");
    row().run(&options(&dir).task_id("mine").unwrap()).unwrap();
    let other = diamond().run(&options(&dir).task_id("mine").unwrap());
    assert!(matches!(other, Err(RunError::Admission(AdmissionError::ForeignTask { .. }))));
}
