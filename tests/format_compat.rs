//! The bytes of the log: golden logs of every release, the document, and a reader that follows one.
//!
//! `fixtures/v1` is never edited: `complete.jsonl` is a diamond that was killed and resumed, the
//! others are made of it by one damage each, with right checksums where the damage is of meaning.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apollo::{AdmissionError, ReadError, RunError};
use apollo_tests::child::has_tool;
use apollo_tests::dir::Dir;
use apollo_tests::log::{KEYS, Log, judge};
use apollo_tests::pipelines::control::{options, script};
use apollo_tests::pipelines::scripted::{diamond, row};
use serde_json::Value;

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

fn document() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(here.join("../docs/format.md")).unwrap()
}

/// The blocks of a language in the document.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let parts = document.split(&opening).skip(1);
    parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect()
}

/// CRC-32 (IEEE), from its definition and not from Apollo.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}

#[test]
fn the_examples_of_the_document_are_records() {
    let document = document();
    let rows: Vec<_> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|name| name.chars().all(|letter| letter.is_lowercase() || letter == '_'))
        .take(KEYS.len())
        .collect();
    assert_eq!(rows, KEYS, "the table of fields");
    let examples = blocks(&document, "json");
    assert!(!examples.is_empty());
    for line in examples {
        let value: Value = serde_json::from_str(&line).unwrap();
        let (body, _) = line.rsplit_once(",\"crc\":\"").unwrap();
        assert_eq!(value["crc"], format!("{:08x}", crc32(body.as_bytes())));
        // A file of one such line is refused for its place in the chain, never for its form.
        check_order(&line);
    }
}

/// The keys of a line in the order of its bytes.
fn check_order(line: &str) {
    let mut at = 0;
    for key in KEYS {
        let quoted = format!("\"{key}\":");
        at += line[at..].find(&quoted).unwrap_or_else(|| panic!("{key} in {line}"));
    }
    assert!(line.starts_with("{\"timestamp\":\"") && line.ends_with("\"}"));
}

#[test]
fn the_recipes_of_the_document_answer_their_questions() {
    if !has_tool("jq") {
        println!("skipped: there is no jq here");
        return;
    }
    let recipes = blocks(&document(), "sh");
    assert!(recipes.len() >= 6);
    let ask = |recipe: &str, name: &str| {
        let (_dir, log) = holding(name);
        let asked = Command::new("sh").args(["-c", recipe]).env("log", &log).output().unwrap();
        assert!(asked.status.success(), "{recipe}\n{}", String::from_utf8_lossy(&asked.stderr));
        let answer = String::from_utf8(asked.stdout).unwrap();
        answer.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let with = |word: &str| {
        recipes.iter().find(|one| one.contains(word)).unwrap_or_else(|| panic!("{word}")).clone()
    };
    let running = with("STEP_START\") | .key");
    assert_eq!(ask(&running, "complete"), Vec::<String>::new());
    let failed = with("status == \"FAILED\"");
    assert_eq!(ask(&failed, "complete"), ["d: for good"]);
    let attempts = with("+= 1");
    let told = ask(&attempts, "complete");
    assert!(told.contains(&"1 a".to_owned()) && told.contains(&"3 b".to_owned()), "{told:?}");
    assert!(ask(&with("sort_by"), "complete").len() == 5);
    assert!(ask(&with("last // empty"), "complete")[0].ends_with("d for good"));
    assert_eq!(ask(&with("retry_at"), "complete"), Vec::<String>::new());
    let lines = fixture("complete").split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(ask(&with("[11:19]"), "complete").len(), lines);
    assert_eq!(ask(&with("epoch \\("), "complete").len(), 3);
    // On the logs of a process that died in a step, and in a wait.
    assert_eq!(ask(&running, "dead"), ["b"]);
    assert!(ask(&with("retry_at"), "waiting")[0].starts_with("b at 20"));
}

#[test]
fn a_reader_that_follows_a_live_log_sees_whole_lines_only() {
    let dir = Dir::new("tail");
    for step in ["b", "g"] {
        script(&dir, step, "fail 1");
    }
    let done = Arc::new(AtomicBool::new(false));
    let path = dir.apollo().join("logs");
    let reader = std::thread::spawn({
        let done = Arc::clone(&done);
        move || {
            let (mut seen, mut cuts) = (BTreeMap::<PathBuf, Vec<u8>>::new(), 0_usize);
            loop {
                let last = done.load(Ordering::SeqCst);
                for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                    let log = entry.path();
                    if log.extension().is_some_and(|extension| extension == "jsonl") {
                        let known = seen.entry(log.clone()).or_default();
                        let mut all = Vec::new();
                        fs::File::open(&log).unwrap().read_to_end(&mut all).unwrap();
                        assert!(all.starts_with(known), "what was read never changes");
                        cuts += usize::from(!all.is_empty() && !all.ends_with(b"\n"));
                        *known = all;
                    }
                }
                if last {
                    return (seen, cuts);
                }
            }
        }
    });
    for _ in 0..10 {
        diamond().run(&options(&dir).fresh()).unwrap();
        row().run(&options(&dir).fresh()).unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let (seen, cuts) = reader.join().unwrap();
    assert_eq!(seen.len(), 20, "logs");
    // A write that crosses a page is seen by halves, for a moment: `tail` shows the line when its
    // newline is there, and what was shown once never changes.
    println!("{cuts} readings ended inside a line");
    for (log, bytes) in &seen {
        String::from_utf8_lossy(bytes).lines().for_each(check_order);
        assert_eq!(Log::read(log).records.len(), bytes.iter().filter(|b| **b == b'\n').count());
    }
    judge(&seen.into_keys().collect::<Vec<_>>());
}
