use std::io::Write as _;

use super::*;
use crate::record::ArtifactEntry;

fn entry(bytes: &[u8]) -> ArtifactEntry {
    ArtifactEntry { digest: Digest::of(bytes), bytes: bytes.len() as u64 }
}

fn names(dir: &TempDir) -> Vec<String> {
    dir.files().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn an_artifact_is_seen_when_it_is_published() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let (run, step) = (run(), step("s.1"));
    let text = vec![b'x'; 200_000];
    for retry_count in 0..2 {
        let mut staged = store.stage(&run, &step, retry_count, "a.csv").unwrap();
        for piece in text.chunks(999) {
            staged.write_all(piece).unwrap();
        }
        let (name, found) = staged.finish().unwrap();
        assert_eq!((name.as_str(), found), ("a.csv", entry(&text)));
        let path = store.artifact_path(&run, &step, "a.csv").unwrap();
        assert_eq!(path.exists(), retry_count == 1);
        store.publish(&run, &step, retry_count, ["a.csv"]).unwrap();
        assert_eq!(names(&dir), [".apollo/artifacts/task_t-1_7/s.1/a.csv"]);
        store.check_artifact(&path, &found).unwrap();
    }
    let path = store.artifact_path(&run, &step, "a.csv").unwrap();
    fs::write(&path, "other").unwrap();
    let checked = store.check_artifact(&path, &entry(&text));
    assert!(matches!(checked, Err(Lost::Altered { bytes: 5, .. })));
    fs::remove_file(&path).unwrap();
    let checked = store.check_artifact(&path, &entry(&text));
    assert!(matches!(checked, Err(Lost::Missing { .. })));
}

#[test]
fn what_was_staged_and_not_published_is_discarded_for_its_step_alone() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let run = run();
    for (id, retry_count) in [("s", 0), ("s", 1), ("s.1", 0), ("t", 0)] {
        let mut staged = store.stage(&run, &step(id), retry_count, "a").unwrap();
        staged.write_all(b"text").unwrap();
        drop(staged);
    }
    store.discard_staging(&run, &step("s")).unwrap();
    let staging = ".apollo/artifacts/task_t-1_7/.staging";
    assert_eq!(names(&dir), [format!("{staging}/s.1.0/a"), format!("{staging}/t.0/a")]);
    store.discard_staging(&run, &step("never")).unwrap();
    // An attempt without artifacts leaves nothing either.
    store.publish(&run, &step("t"), 0, [""; 0]).unwrap();
    assert_eq!(names(&dir), [format!("{staging}/s.1.0/a")]);
}

#[test]
fn an_artifact_begun_twice_is_the_second() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    let (run, step) = (run(), step("s"));
    for text in ["a long one", "short"] {
        let mut staged = store.stage(&run, &step, 0, "a").unwrap();
        staged.write_all(text.as_bytes()).unwrap();
        assert_eq!(staged.finish().unwrap().1, entry(text.as_bytes()));
    }
    store.publish(&run, &step, 0, ["a"]).unwrap();
    let path = store.artifact_path(&run, &step, "a").unwrap();
    assert_eq!(fs::read(path).unwrap(), b"short");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let dir = TempDir::new();
    let store = store_in(&dir);
    for name in ["", "..", "../x", "a/b", "/x", ".hidden", "-x", "a b", "x\0", &"x".repeat(101)] {
        let staged = store.stage(&run(), &step("s"), 0, name);
        let refused = staged.unwrap_err().to_string();
        assert!(refused.contains("is no artifact name"), "{refused}");
    }
    assert_eq!(names(&dir), [""; 0]);
}

#[test]
fn an_artifact_with_a_failed_write_is_never_finished() {
    for fault in [Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short] {
        for at in 1.. {
            let dir = TempDir::new();
            store_in(&dir);
            let disk = Arc::new(CrashDisk::new(Arc::new(RealDisk), at, fault));
            let Ok(store) = Store::create(disk, &dir.path().join(".apollo")) else { continue };
            let leave = || -> Result<ArtifactEntry, StoreError> {
                let mut staged = store.stage(&run(), &step("s"), 0, "a")?;
                for _ in 0..5 {
                    // The step does not look whether it could write.
                    drop(staged.write_all(&[b'x'; 50_000]));
                }
                let (name, entry) = staged.finish()?;
                store.publish(&run(), &step("s"), 0, [name])?;
                Ok(entry)
            };
            let left = leave();
            let path = store.artifact_path(&run(), &step("s"), "a").unwrap();
            if path.exists() {
                assert_eq!(fs::read(&path).unwrap(), [b'x'; 250_000], "{fault:?} at {at}");
            }
            if let Ok(found) = left {
                store.check_artifact(&path, &found).unwrap();
                if !dir.path().join(".apollo/artifacts/task_t-1_7/.staging/s.0").exists() {
                    break;
                }
            }
        }
    }
}
