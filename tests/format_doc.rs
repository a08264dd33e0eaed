//! `docs/format.md` is true: its examples are valid lines, its recipes work as they are written.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use apollo_tests::child::{example, has_tool, output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::log::{KEYS, judge};
use serde_json::{Map, Value};

/// The document.
fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/format.md");
    fs::read_to_string(path).expect("docs/format.md")
}

/// The contents of the document's fences of a kind.
fn fences(kind: &str) -> Vec<String> {
    let document = document();
    let opening = format!("```{kind}\n");
    let opened = document.split(&opening).skip(1);
    let fences: Vec<_> = opened
        .map(|rest| rest.split_once("```").expect("a fence that is closed").0.to_owned())
        .collect();
    assert!(!fences.is_empty(), "the document has fences of {kind}");
    fences
}

/// CRC-32 (IEEE), bit by bit: nothing of Apollo judges what the document says.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let odd = crc & 1 == 1;
            crc >>= 1;
            if odd {
                crc ^= 0xEDB8_8320;
            }
        }
    }
    !crc
}

/// The keys of a line's object, as they stand in it.
fn keys_in_order(line: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let (mut depth, mut in_text, mut escaped, mut began) = (0, false, false, 0);
    for (at, letter) in line.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' if in_text => {
                in_text = false;
                if depth == 1 && line[at + 1..].starts_with(':') {
                    keys.push(line[began..at].to_owned());
                }
            }
            '"' => (in_text, began) = (true, at + 1),
            '{' | '[' if !in_text => depth += 1,
            '}' | ']' if !in_text => depth -= 1,
            _ => {}
        }
    }
    keys
}

fn check_line(line: &str) -> Map<String, Value> {
    let (body, stored) = line.rsplit_once(",\"crc\":\"").expect("a crc");
    let computed = format!("{:08x}", crc32(body.as_bytes()));
    assert_eq!(stored, format!("{computed}\"}}"), "the crc of\n{line}");
    let record: Map<String, Value> = serde_json::from_str(line).expect("a line of JSON");
    assert_eq!(keys_in_order(line), KEYS, "the keys of\n{line}");
    assert_eq!(record.len(), KEYS.len(), "no key twice");
    let summary = record["event_type"] == "TASK_SUMMARY";
    assert_eq!(record["step_id"].is_null(), summary, "step_id of\n{line}");
    assert_eq!(record["timestamp"].as_str().map(str::len), Some(27), "timestamp of\n{line}");
    let number = |key: &str| record[key].as_u64().expect("a number");
    assert!(number("durable") <= number("seq"), "durable of\n{line}");
    record
}

#[test]
fn examples_are_lines_with_right_checksums_and_chains() {
    let mut said = HashMap::new();
    for fence in fences("jsonl") {
        let mut before: Option<Map<String, Value>> = None;
        for line in fence.lines() {
            let record = check_line(line);
            match &before {
                Some(before) => {
                    assert_eq!(record["prev"], before["crc"], "the chain at\n{line}");
                    let next = before["seq"].as_u64().map(|seq| seq + 1);
                    assert_eq!(record["seq"].as_u64(), next, "the number of\n{line}");
                }
                None if record["seq"] == 0 => assert_eq!(record["prev"], "00000000"),
                None => {}
            }
            let kind = (record["event_type"].to_string(), record["status"].to_string());
            *said.entry(kind).or_insert(0) += 1;
            before = Some(record);
        }
    }
    // Each kind of record that the document lists, FAILED summaries excepted.
    assert_eq!(said.len(), 7, "{said:?}");
}

#[test]
fn a_whole_run_of_the_document_is_a_log_for_the_independent_reader() {
    let dir = Dir::new("format");
    let whole = fences("jsonl").into_iter().find(|fence| fence.contains("\"seq\":0,")).unwrap();
    let log = dir.path().join("example.jsonl");
    fs::write(&log, whole).unwrap();
    judge(&[log]);
}

#[test]
fn every_key_has_its_row_in_the_order_of_a_line() {
    let document = document();
    let table = document.split("| key | type |").nth(1).expect("the table of keys");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let keys: Vec<_> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(keys, KEYS);
}

#[test]
fn members_of_detail_in_the_examples_are_documented() {
    let document = document();
    let known = |key: &str| document.contains(&format!("`{key}`"));
    for fence in fences("jsonl") {
        for line in fence.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let Some(detail) = record["detail"].as_object() else { continue };
            assert!(detail.keys().all(|key| known(key)), "{:?}", detail.keys());
            let steps = detail.get("steps").and_then(Value::as_array).into_iter().flatten();
            for step in steps.filter_map(Value::as_object) {
                assert!(step.keys().all(|key| known(key)), "{:?}", step.keys());
            }
        }
    }
}

/// A log with retries and an optional step that fails, whole and as it was while a retry waited.
fn logs(dir: &Dir) -> [PathBuf; 2] {
    let program = example("retry_and_optional");
    let ran = output(&mut pipelines(program.to_str().unwrap(), dir.path(), &[]));
    assert!(ran.status.success(), "{}", said(&ran));
    let whole = dir.only_log();
    let text = fs::read_to_string(&whole).unwrap();
    let waits = text.lines().position(|line| line.contains("\"retry_at\"")).unwrap();
    let prefix: String = text.split_inclusive('\n').take(waits + 1).collect();
    let live = dir.path().join("live.jsonl");
    fs::write(&live, prefix).unwrap();
    [whole, live]
}

#[test]
fn every_recipe_works_as_written() {
    if !has_tool("jq") {
        println!("skipped: jq is missing");
        return;
    }
    let dir = Dir::new("recipes");
    let logs = logs(&dir);
    let recipes = fences("sh");
    assert!(recipes.len() >= 6, "{} recipes", recipes.len());
    for recipe in recipes {
        let mut answers = String::new();
        for log in &logs {
            let ran = output(Command::new("sh").args(["-c", &recipe]).env("LOG", log));
            assert!(ran.status.success() && ran.stderr.is_empty(), "{recipe}\n{}", said(&ran));
            answers += &said(&ran);
        }
        assert!(!answers.trim().is_empty(), "no answer to\n{recipe}");
    }
}

#[test]
fn the_checksum_snippet_accepts_a_log_and_refuses_a_changed_one() {
    if !has_tool("python3") {
        println!("skipped: python3 is missing");
        return;
    }
    let dir = Dir::new("snippet");
    let [log, _live] = logs(&dir);
    let snippet = &fences("python")[0];
    let run = || output(Command::new("python3").args(["-c", snippet]).arg(&log));
    let ran = run();
    assert!(ran.status.success(), "{}", said(&ran));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("\"retry_count\":0", "\"retry_count\":7", 1)).unwrap();
    assert!(!run().status.success());
}

/// What the recipe that stands behind a sentence says of a golden log, tabs as spaces.
fn ask(sentence: &str, golden: &str) -> Vec<String> {
    let document = document();
    let (_, behind) = document.split_once(sentence).expect("the recipe's sentence");
    let recipe = behind.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v1");
    let log = here.join(format!("{golden}.jsonl"));
    let asked = output(Command::new("sh").args(["-c", recipe]).env("LOG", &log));
    assert!(asked.status.success(), "{recipe}\n{}", said(&asked));
    said(&asked).lines().map(|line| line.replace('\t', " ")).collect()
}

#[test]
fn recipes_answer_their_questions_on_golden_logs() {
    if !has_tool("jq") {
        println!("skipped: jq is missing");
        return;
    }
    let now = ask("Which steps are running or failed now", "complete");
    assert!(now.len() == 1 && now[0].starts_with("d FAILED") && now[0].ends_with(" for good"));
    let now = ask("Which steps are running or failed now", "dead");
    assert!(now.iter().any(|line| line.starts_with("b RUNNING")), "{now:?}");
    let states = ask("The state of every step", "complete");
    let expected = ["SUCCESS a", "FAILED d", "SKIPPED h"];
    assert!(states.len() == 8 && expected.iter().all(|one| states.contains(&(*one).to_owned())));
    let attempts = ask("Attempts per step", "complete");
    assert!(attempts.contains(&"1 a".to_owned()) && attempts.contains(&"3 b".to_owned()));
    assert!(ask("The last error", "complete")[0].ends_with("for good"));
    assert_eq!(ask("Retries that are waited for", "complete"), Vec::<String>::new());
    assert!(ask("Retries that are waited for", "waiting")[0].starts_with("b tries again at 20"));
    assert_eq!(ask("Who worked on it", "complete").len(), 2);
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v1/complete.jsonl");
    let lines = fs::read_to_string(log).unwrap().lines().count();
    assert_eq!(ask("The timeline", "complete").len(), lines);
}
