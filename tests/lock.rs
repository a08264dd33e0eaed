//! One process works on a task_id at a time.

use std::io;
use std::path::Path;
use std::sync::Arc;

use apollo::testing::{Hook, HookDisk};
use apollo::{AdmissionError, LockError, ReadError, RealDisk, RunError};
use apollo_tests::child::{kill, output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::log::judge;
use apollo_tests::pipelines::control::{begun, options, ran, script};
use apollo_tests::pipelines::scripted::row;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

#[test]
fn the_second_process_exits_with_four_and_names_the_first() {
    let dir = Dir::new("two");
    script(&dir, "first", "hang");
    let holder = pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "first");
    let second = output(&mut pipelines(PROGRAM, dir.path(), &["run", "row"]));
    assert_eq!(second.status.code(), Some(4), "{}", said(&second));
    assert!(said(&second).contains(&holder.id().to_string()), "{}", said(&second));
    assert_eq!(ran(&dir), ["first 0"]);
    script(&dir, "first.go", "");
    let first = holder.wait_with_output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    judge(&dir.logs());
}

#[test]
fn two_runs_in_one_process_do_not_meet() {
    let dir = Dir::new("within");
    script(&dir, "first", "hang");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| row().run(&options(&dir)));
        begun(&dir, "first");
        let second = row().run(&options(&dir));
        let Err(RunError::Admission(AdmissionError::Lock {
            source: LockError::Held { holder, .. },
        })) = second
        else {
            panic!("{second:?}")
        };
        assert_eq!(holder.unwrap().pid, std::process::id());
        script(&dir, "first.go", "");
        first.join().unwrap().unwrap();
    });
    judge(&dir.logs());
}

#[test]
fn two_that_start_at_once_share_one_run() {
    let dir = Dir::new("race");
    let run = || pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    let both = [run(), run()];
    for child in both {
        let ended = child.wait_with_output().unwrap();
        assert!(matches!(ended.status.code(), Some(0 | 4)), "{}", said(&ended));
    }
    assert_eq!(ran(&dir), ["first 0", "second 0", "third 0"]);
    dir.only_log();
    judge(&dir.logs());
}

#[test]
fn a_killed_holder_holds_nothing() {
    let dir = Dir::new("killed");
    script(&dir, "first", "hang");
    let holder = pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "first");
    kill(holder);
    script(&dir, "first", "");
    row().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir), ["first 0", "first 1", "second 0", "third 0"]);
    judge(&dir.logs());
}

#[test]
fn two_task_ids_do_not_wait_for_each_other() {
    let dir = Dir::new("apart");
    script(&dir, "first", "hang");
    std::thread::scope(|scope| {
        let one = scope.spawn(|| row().run(&options(&dir).task_id("one").unwrap()));
        begun(&dir, "first");
        script(&dir, "first", "");
        row().run(&options(&dir).task_id("two").unwrap()).unwrap();
        script(&dir, "first.go", "");
        one.join().unwrap().unwrap();
    });
    assert_eq!(dir.logs().len(), 2);
    judge(&dir.logs());
}

/// A file system without locks for files whose names end so, as some network ones are.
#[derive(Debug)]
struct NoLocks(&'static str);

impl Hook for NoLocks {
    fn lock(&self, path: &Path) -> io::Result<()> {
        let is_one = path.extension().is_some_and(|extension| extension == self.0);
        if is_one { Err(rustix::io::Errno::NOLCK.into()) } else { Ok(()) }
    }
}

#[test]
fn where_nothing_can_be_locked_nothing_runs_and_the_file_is_named() {
    let dir = Dir::new("nolck");
    let without = |files| Arc::new(HookDisk::new(Arc::new(RealDisk), Arc::new(NoLocks(files))));
    let refused = row().run(&options(&dir).disk(without("lock"))).unwrap_err();
    let RunError::Admission(AdmissionError::Lock { source: LockError::Failed { path, source } }) =
        &refused
    else {
        panic!("{refused:?}")
    };
    assert!(path.ends_with("task_row.lock"), "{}", path.display());
    assert_eq!(source.raw_os_error(), Some(rustix::io::Errno::NOLCK.raw_os_error()));
    let refused = row().run(&options(&dir).disk(without("jsonl"))).unwrap_err();
    assert!(matches!(refused, RunError::Admission(AdmissionError::Log { .. })), "{refused:?}");
    // The log that was created and could not be locked is a run that never began.
    let refused = row().run(&options(&dir).disk(without("jsonl"))).unwrap_err();
    let RunError::Admission(AdmissionError::Read { source: ReadError::Io { .. } }) = &refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(ran(&dir), [""; 0]);
    row().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir), ["first 0", "second 0", "third 0"]);
    judge(&dir.logs());
}
