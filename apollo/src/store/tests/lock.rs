use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::clock::{Clock as _, SimClock};
use crate::disk::{Op, Operation};

/// A clock that nobody has to wait for.
fn clock() -> SimClock {
    SimClock::new(Timestamp::from_unix_us(0))
}

fn holder(pid: u32) -> Holder {
    Holder { pid, host: "n1".to_owned(), start: Timestamp::from_unix_us(1_794_000_000_000_789) }
}

#[test]
fn a_second_process_waits_a_second_and_is_told_who_holds_it() {
    let dir = TempDir::new();
    let (store, other) = (store_in(&dir), store_in(&dir));
    let clock = clock();
    let lock = store.lock_task(&task(), &holder(17), &clock).unwrap();
    assert_eq!(clock.monotonic(), Duration::ZERO);
    let refused = other.lock_task(&task(), &holder(18), &clock).unwrap_err();
    assert!(clock.monotonic() >= Duration::from_secs(1));
    assert!(matches!(&refused, LockError::Held { holder: Some(by), .. } if *by == holder(17)));
    assert_eq!(
        refused.to_string(),
        "another process works on `t-1`: process 17 on n1, since 2026-11-06T21:20:00.000789Z"
    );
    let another = TaskId::parse("t-2").unwrap();
    drop(other.lock_task(&another, &holder(18), &clock).unwrap());
    drop(lock);
    let lock = other.lock_task(&task(), &holder(5), &clock).unwrap();
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Running(Some(holder(5))));
    drop(lock);
}

#[test]
fn who_only_asks_changes_nothing() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Free);
    assert_eq!(dir.files(), []);
    let lock = store.lock_task(&task(), &holder(17), &clock()).unwrap();
    let before = dir.files();
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Running(Some(holder(17))));
    drop(lock);
    // What the file says is not believed once nobody holds it.
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Free);
    assert_eq!(dir.files(), before);
}

#[test]
fn a_holder_that_cannot_be_read_is_still_one() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let lock = store.lock_task(&task(), &holder(17), &clock()).unwrap();
    fs::write(store.root().join("logs/task_t-1.lock"), "{\"pid\":").unwrap();
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Running(None));
    let refused = store.lock_task(&task(), &holder(18), &clock()).unwrap_err();
    assert_eq!(refused.to_string(), "another process works on `t-1`");
    drop(lock);
}

#[test]
fn a_lock_is_not_taken_through_a_symbolic_link() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    fs::write(dir.path().join("victim"), "text").unwrap();
    symlink(dir.path().join("victim"), store.root().join("logs/task_t-1.lock")).unwrap();
    let refused = store.lock_task(&task(), &holder(17), &clock()).unwrap_err();
    assert!(matches!(refused, LockError::Failed { .. }));
    assert_eq!(fs::read(dir.path().join("victim")).unwrap(), b"text");
}

/// Somebody who removes the first file that is created, before its maker can lock it.
#[derive(Debug, Default)]
struct Remover(AtomicBool);

impl Hook for Remover {
    fn ended(&self, operation: &Operation<'_>, _how: &io::Result<()>) {
        if operation.what == Op::Create && !self.0.swap(true, Ordering::SeqCst) {
            fs::remove_file(operation.path).unwrap();
        }
    }
}

#[test]
fn a_lock_on_a_file_that_was_removed_meanwhile_is_not_believed() {
    let dir = TempDir::new();
    let disk = HookDisk::new(Arc::new(RealDisk), Arc::new(Remover::default()));
    let store = Store::create(Arc::new(disk), &dir.path().join(".apollo")).unwrap();
    let lock = store.lock_task(&task(), &holder(17), &clock()).unwrap();
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Running(Some(holder(17))));
    drop(lock);
}

#[test]
fn this_process_knows_its_name() {
    let this = Holder::of(&RealDisk, Timestamp::from_unix_us(0));
    assert_eq!(this.pid, std::process::id());
    assert!(!this.host.is_empty());
}
