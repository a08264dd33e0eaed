//! The bytes of the log: golden logs of every release.
//!
//! `fixtures/v1` is never edited: `complete.jsonl` is a diamond that was killed and resumed, the
//! others are made of it by one damage each, with right checksums where the damage is of meaning.

use std::fs;
use std::path::{Path, PathBuf};

use apollo::{AdmissionError, ReadError, RunError};
use apollo_tests::dir::Dir;
use apollo_tests::log::judge;
use apollo_tests::pipelines::control::options;
use apollo_tests::pipelines::scripted::diamond;

fn fixture(name: &str) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v1");
    fs::read(here.join(format!("{name}.jsonl"))).unwrap()
}

/// A directory that holds a fixture as the newest run of the diamond.
fn holding(name: &str) -> (Dir, PathBuf) {
    let dir = Dir::new("golden");
    let logs = dir.apollo().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let log = logs.join("task_diamond_1700000000.jsonl");
    fs::write(&log, fixture(name)).unwrap();
    (dir, log)
}

#[test]
fn a_complete_log_of_schema_1_is_read_as_it_was_written() {
    let (dir, log) = holding("complete");
    let summary = diamond().run(&options(&dir)).unwrap();
    assert!(summary.already_done);
    let told: Vec<_> = summary.steps.iter().map(|(id, status)| format!("{id} {status}")).collect();
    assert_eq!(
        told,
        [
            "a SUCCESS",
            "b SUCCESS",
            "c SUCCESS",
            "d FAILED",
            "e SUCCESS",
            "f SUCCESS",
            "g SUCCESS",
            "h SKIPPED"
        ]
    );
    assert_eq!(fs::read(&log).unwrap(), fixture("complete"));
    judge(&[log]);
}

#[test]
fn every_damage_of_what_was_synced_is_refused_with_its_place() {
    let check = |name: &str, expected: &str, line: u64| {
        let (dir, log) = holding(name);
        let result = diamond().run(&options(&dir));
        let Err(RunError::Admission(AdmissionError::Read { source })) = &result else {
            panic!("{name}: {result:?}")
        };
        let (kind, seen, offset) = match source {
            ReadError::Corrupt { line, offset_bytes, .. } => ("corrupt", *line, *offset_bytes),
            ReadError::Contradiction { line, offset_bytes, .. } => {
                ("contradiction", *line, *offset_bytes)
            }
            ReadError::Schema { schema, .. } => ("schema", *schema, 0),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!((kind, seen), (expected, line), "{name}");
        if kind == "corrupt" {
            let bytes = fixture(name);
            let before = bytes[..usize::try_from(offset).unwrap()].iter();
            let newlines = before.filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(newlines, line - 1, "{name}: byte {offset}");
        }
        assert_eq!(fs::read(&log).unwrap(), fixture(name), "{name}: a refused log keeps its bytes");
        assert!(diamond().plan(&options(&dir)).is_err(), "{name}: a plan refuses it as well");
    };
    check("flipped_bit", "corrupt", 7);
    check("flipped_newline", "corrupt", 6);
    check("upper_case_crc", "corrupt", 7);
    check("swapped_lines", "corrupt", 7);
    check("doubled_line", "corrupt", 8);
    check("missing_line", "corrupt", 7);
    check("unknown_schema", "schema", 2);
    check("contradiction", "contradiction", 6);
}

#[test]
fn what_a_crash_leaves_is_gone_on_with() {
    for name in ["torn_tail", "nul_tail", "rot_in_last_commit", "dead", "waiting"] {
        let (dir, log) = holding(name);
        let summary = diamond().run(&options(&dir)).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert!(!summary.already_done, "{name}");
        let kept = fs::read_dir(log.parent().unwrap()).unwrap();
        let kept = kept
            .filter(|one| one.as_ref().unwrap().file_name().to_string_lossy().contains(".torn-"));
        assert_eq!(
            kept.count(),
            usize::from(name.ends_with("tail") || name.starts_with("rot")),
            "{name}"
        );
        judge(&[log]);
    }
}
