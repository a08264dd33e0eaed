#![expect(clippy::disallowed_methods, reason = "tests look at the file system past the door")]

mod artifact;
mod lock;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::*;
use crate::digest::Digest;
use crate::disk::{CrashDisk, Disk as _, Fault, FileSystem, Hook, HookDisk, RealDisk, TempDir};
use crate::id::{RunId, StepId, TaskId};
use crate::output::Output;
use crate::time::Timestamp;

fn store_in(dir: &TempDir) -> Store {
    Store::create(Arc::new(RealDisk), &dir.path().join(".apollo")).unwrap()
}

fn task() -> TaskId {
    TaskId::parse("t-1").unwrap()
}

fn run() -> RunId {
    RunId::new(&task(), 7)
}

fn step(id: &str) -> StepId {
    StepId::parse(id).unwrap()
}

/// The machine's disk, used by another user or on another kind of file system.
#[derive(Debug)]
struct Elsewhere {
    user: u32,
    file_system: FileSystem,
}

impl Hook for Elsewhere {
    fn file_system(&self, _found: FileSystem) -> FileSystem {
        self.file_system
    }
    fn user(&self, _found: u32) -> u32 {
        self.user
    }
}

impl Elsewhere {
    fn disk(self) -> Arc<HookDisk> {
        Arc::new(HookDisk::new(Arc::new(RealDisk), Arc::new(self)))
    }
}

const PLAIN: FileSystem =
    FileSystem { free_bytes: 1 << 40, in_memory: false, network: false, copy_on_write: false };

#[test]
fn the_nearest_directory_upward_is_taken() {
    let dir = TempDir::new();
    let deep = dir.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let check = |explicit: Option<&str>, expected: &Path| {
        let found = Store::locate(explicit.map(Path::new), &deep, &RealDisk);
        assert_eq!(found, expected);
    };
    check(None, &deep.join(".apollo"));
    fs::write(dir.path().join("a/.apollo"), "a file is no directory").unwrap();
    fs::create_dir(dir.path().join(".apollo")).unwrap();
    check(None, &dir.path().join(".apollo"));
    check(Some("x/y"), &deep.join("x/y"));
    check(Some("/x"), Path::new("/x"));
}

#[test]
fn a_new_directory_belongs_to_its_owner_alone() {
    let dir = TempDir::new();
    let root = dir.path().join("deep/.apollo");
    let store = Store::create(Arc::new(RealDisk), &root).unwrap();
    for path in [&root, &root.join("logs"), &dir.path().join("deep")] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }
    store.write_output(&run(), &step("s"), &Output::encode(&1).unwrap()).unwrap();
    let file = store.output_path(&run(), &step("s"));
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_directory_that_somebody_else_could_change_is_refused() {
    let dir = TempDir::new();
    let root = dir.path().join(".apollo");
    let target = dir.path().join("target");
    fs::create_dir(&target).unwrap();
    symlink(&target, &root).unwrap();
    let create = |user| {
        let disk = Elsewhere { user, file_system: PLAIN }.disk();
        Store::create(disk, &root).map(drop).map_err(|error| error.to_string())
    };
    let user = RealDisk.user();
    let refused = create(user + 1).unwrap_err();
    assert!(refused.contains("is a symbolic link that belongs to another user"), "{refused}");
    create(user).unwrap();
    for mode in [0o777, 0o770, 0o1777] {
        fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
        let refused = create(user).unwrap_err();
        assert!(refused.contains("chmod go-w"), "{refused}");
    }
    fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).unwrap();
    create(user).unwrap();
    fs::remove_file(&root).unwrap();
    symlink(dir.path().join("nowhere"), &root).unwrap();
    assert!(create(user).is_err());
    assert!(!dir.path().join("nowhere").exists());
    fs::remove_file(&root).unwrap();
    fs::create_dir(&root).unwrap();
    let refused = create(user + 1).unwrap_err();
    assert!(refused.contains("` belongs to another user"), "{refused}");
    fs::remove_dir(&root).unwrap();
    fs::write(&root, "a file").unwrap();
    assert!(create(user).is_err());
}

#[test]
fn a_reader_makes_nothing() {
    let dir = TempDir::new();
    let root = dir.path().join(".apollo");
    let opened = Store::open(Arc::new(RealDisk), &root);
    assert!(matches!(opened, Err(StoreError::Missing { .. })));
    assert!(!root.exists());
    fs::create_dir(&root).unwrap();
    let store = Store::open(Arc::new(RealDisk), &root).unwrap();
    assert_eq!(store.runs().unwrap(), []);
    assert_eq!(store.newest_run(&task()).unwrap(), None);
    assert_eq!(store.holder_of(&task()).unwrap(), Liveness::Free);
    assert!(store.read_output(&run(), &step("s"), Digest::of(b"1")).is_err());
    assert_eq!(fs::read_dir(root).unwrap().count(), 0);
}

#[test]
fn a_second_start_syncs_nothing() {
    let dir = TempDir::new();
    let root = dir.path().join(".apollo");
    let syncs = || {
        let crash = CrashDisk::new(Arc::new(RealDisk), 0, Fault::Kill);
        let store = Store::create(Arc::new(crash.clone()), &root).unwrap();
        fs::write(store.log_path(&run()), "").unwrap();
        crash.syncs()
    };
    assert!(syncs() >= 2, "the directory and `logs` in it");
    assert_eq!(syncs(), 0);
}

#[test]
fn runs_are_told_from_what_lies_beside_them() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let put = |sub: &str, name: &str| {
        fs::create_dir_all(store.root().join(sub)).unwrap();
        fs::write(store.root().join(sub).join(name), "").unwrap();
    };
    for name in [
        "task_t-1_9.jsonl",
        "task_t-1_10.jsonl",
        "task_t-1_1_8.jsonl",
        "task_a_9.jsonl",
        "task_t-1_11.jsonl.torn-5",
        "task_t-1_10.jsonl.corrupt-1",
        "task_t-1_10.jsonl.snapshot",
        "task_t-1_10.jsonl.0.steps.json",
        "task_t-1.lock",
        "task_t-1_x.jsonl",
        "task_.._1.jsonl",
        ".task_t-1_3.jsonl.tmp",
        "note.jsonl",
    ] {
        put("logs", name);
    }
    let text = |runs: Vec<RunId>| runs.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        text(store.runs().unwrap()),
        ["task_t-1_1_8", "task_a_9", "task_t-1_9", "task_t-1_10"]
    );
    assert_eq!(text(store.runs_of(&task()).unwrap()), ["task_t-1_9", "task_t-1_10"]);
    assert_eq!(store.newest_run(&task()).unwrap(), Some(RunId::new(&task(), 10)));
    let new = |now_s: i64| {
        let now = Timestamp::from_unix_us(now_s * 1_000_000);
        store.new_run(&task(), now).unwrap().parts().1
    };
    // A clock that went back, and what is left of a log that is gone.
    assert_eq!((new(3), new(50)), (12, 50));
    put("archive", "task_t-1_80.jsonl.gz");
    assert_eq!((new(3), new(100)), (81, 100));
}

#[test]
fn an_output_comes_back_or_is_named_as_lost() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let (run, step) = (run(), step("s"));
    let output = Output::encode(&vec![1, 2, 3]).unwrap();
    store.write_output(&run, &step, &output).unwrap();
    assert_eq!(store.read_output(&run, &step, output.digest()).unwrap(), output);
    let path = store.output_path(&run, &step);
    assert_eq!(fs::read(&path).unwrap(), b"[1,2,3]");
    fs::write(&path, "[1,2,4]").unwrap();
    let read = store.read_output(&run, &step, output.digest());
    assert!(matches!(read, Err(Lost::Altered { .. })));
    fs::remove_file(&path).unwrap();
    let read = store.read_output(&run, &step, output.digest());
    assert!(matches!(read, Err(Lost::Missing { .. })));
    let null = Output::encode(&()).unwrap();
    store.write_output(&run, &step, &null).unwrap();
    assert!(!path.exists(), "null needs no file");
    assert_eq!(store.read_output(&run, &step, null.digest()).unwrap(), null);
}

#[test]
fn an_output_that_fails_leaves_the_old_one_and_nothing_else() {
    for fault in [Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short] {
        for at in 1.. {
            let dir = TempDir::new();
            store_in(&dir);
            let disk = Arc::new(CrashDisk::new(Arc::new(RealDisk), at, fault));
            let Ok(store) = Store::create(disk, &dir.path().join(".apollo")) else { continue };
            let output = Output::encode(&"text".to_owned()).unwrap();
            let written = store.write_output(&run(), &step("s"), &output);
            let files = dir.files();
            assert!(files.len() <= 1, "{fault:?} at {at}: {files:?}");
            assert!(files.iter().all(|(_, bytes)| bytes == output.bytes()), "{files:?}");
            match written {
                Ok(()) => break,
                Err(error) => assert!(error.to_string().contains("MiB free"), "{error}"),
            }
        }
    }
}

#[test]
fn markers_come_and_go() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let (run, step) = (run(), step("s"));
    let read = |key| store.read_marker(&run, &step, key).unwrap();
    store.remove_marker(&run, &step, "../key").unwrap();
    assert_eq!(read("../key"), None);
    store.write_marker(&run, &step, "../key", b"begun").unwrap();
    store.write_marker(&run, &step, "../key", b"done").unwrap();
    assert_eq!(read("../key").unwrap(), b"done");
    assert_eq!(read("other"), None);
    store.remove_marker(&run, &step, "../key").unwrap();
    assert_eq!(read("../key"), None);
    assert_eq!(dir.files(), []);
}

#[test]
fn captured_lines_cost_no_sync() {
    let dir = TempDir::new();
    store_in(&dir);
    let crash = CrashDisk::new(Arc::new(RealDisk), 0, Fault::Kill);
    let store = Store::create(Arc::new(crash.clone()), &dir.path().join(".apollo")).unwrap();
    let before = crash.syncs();
    for line in ["one", "two"] {
        store.append_capture(&run(), &step("s"), 3, line).unwrap();
    }
    let text = fs::read(store.capture_path(&run(), &step("s"), 3)).unwrap();
    assert_eq!((text.as_slice(), crash.syncs()), (&b"one\ntwo\n"[..], before));
}

#[test]
fn a_place_that_may_lose_things_is_warned_about() {
    let check = |file_system: FileSystem, expected: &[&str]| {
        let disk = Elsewhere { user: RealDisk.user(), file_system }.disk();
        let store = Store::open(disk, Path::new("/")).unwrap();
        let warnings = store.warnings();
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, word) in warnings.iter().zip(expected) {
            assert!(warning.contains(word), "{warning}");
        }
    };
    check(PLAIN, &[]);
    check(FileSystem { in_memory: true, ..PLAIN }, &["tmpfs"]);
    check(FileSystem { network: true, free_bytes: 0, ..PLAIN }, &["network", "nearly full"]);
    let dir = TempDir::new();
    let warnings = store_in(&dir).warnings();
    assert!(warnings.iter().any(|warning| warning.contains("temporary")), "{warnings:?}");
}
