//! `verify`: what it checks, what it says, and that it leaves everything as it is.

use std::fs;
use std::path::Path;

use apollo::{Crc, Digest};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::pipelines::control::{begun, options, script};
use apollo_tests::pipelines::crashing::crashing;
use apollo_tests::pipelines::scripted::row;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

/// Runs a command that must end with this code and change nothing; gives what it said.
fn check(dir: &Dir, args: &[&str], code: i32, parts: &[&str]) -> String {
    let before = dir.everything();
    let ended = output(&mut pipelines(PROGRAM, dir.path(), args));
    let said = said(&ended);
    assert_eq!(ended.status.code(), Some(code), "{args:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in what {args:?} said: {said}");
    }
    assert!(dir.everything() == before, "{args:?} changed something");
    said
}

/// The receipt of a log: what `sha256sum` would say.
fn receipt(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

#[test]
fn the_receipt_is_the_sha_256_of_the_log_also_of_a_damaged_one() {
    let dir = Dir::new("receipt");
    row().run(&options(&dir)).unwrap();
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    check(&dir, &["verify", "row"], 0, &["8 records", &receipt(&bytes)]);
    let mut bad = bytes.clone();
    bad[bytes.len() / 2] ^= 1;
    fs::write(&log, &bad).unwrap();
    check(&dir, &["verify", "row"], 3, &[&receipt(&bad), "is corrupt at line", "repair row"]);
    let torn = [&bytes[..], b"{\"timestamp\":\"20"].concat();
    fs::write(&log, &torn).unwrap();
    check(&dir, &["verify", "row"], 0, &[&receipt(&torn), "torn", "16 B"]);
}

#[test]
fn a_fault_is_told_with_file_line_and_byte() {
    let dir = Dir::new("place");
    row().run(&options(&dir)).unwrap();
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let at: usize = lines[..4].iter().map(|line| line.len()).sum();
    let mut bad = bytes.clone();
    bad[at + 40] ^= 1;
    fs::write(&log, &bad).unwrap();
    let name = log.file_name().unwrap().to_str().unwrap();
    check(&dir, &["verify", "row"], 3, &[name, "line 5", &format!("byte {at}")]);
    let ended = output(&mut pipelines(PROGRAM, dir.path(), &["verify", "row", "--json"]));
    assert_eq!(ended.status.code(), Some(3));
    let json: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((&json["ok"], &json["records"]), (&false.into(), &4.into()));
    assert_eq!(json["damage"]["offset_bytes"], at);
    assert_eq!(json["digest"], receipt(&bad));
}

#[test]
fn every_output_and_artifact_is_compared() {
    let dir = Dir::new("files");
    crashing().run(&options(&dir)).unwrap();
    check(&dir, &["verify", "crashing"], 0, &["outputs    ok", "artifacts  ok: 2"]);
    let run = dir.only_log().file_stem().unwrap().to_owned();
    let state = dir.apollo().join("state").join(&run);
    let artifacts = dir.apollo().join("artifacts").join(&run);
    let alter = |path: &Path, parts: &[&str]| {
        let bytes = fs::read(path).unwrap();
        for altered in [&bytes[1..], b""] {
            fs::write(path, altered).unwrap();
            check(&dir, &["verify", "crashing"], 3, parts);
        }
        fs::remove_file(path).unwrap();
        check(&dir, &["verify", "crashing"], 3, &["is missing", parts[0]]);
        fs::write(path, bytes).unwrap();
    };
    alter(&state.join("load.json"), &["step `load`", "load.json"]);
    alter(&artifacts.join("fetch/table.csv"), &["step `fetch`", "table.csv"]);
    check(&dir, &["verify", "crashing"], 0, &[]);
}

#[test]
fn a_run_at_work_is_verified_as_far_as_it_is() {
    let dir = Dir::new("work");
    script(&dir, "second", "hang");
    let child = pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "second");
    let pid = child.id().to_string();
    check(&dir, &["verify", "row"], 0, &["at work", &pid, "4 records"]);
    check(&dir, &["verify"], 0, &["ok, at work"]);
    script(&dir, "second.go", "");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0), "it was not disturbed");
}

#[test]
fn without_a_name_all_runs_are_verified_and_a_bad_one_hides_no_other() {
    let dir = Dir::new("all");
    check(&dir, &["verify"], 2, &["there is no directory"]);
    row().run(&options(&dir)).unwrap();
    row().run(&options(&dir).task_id("other").unwrap()).unwrap();
    row().run(&options(&dir).fresh()).unwrap();
    let logs = dir.logs();
    let receipts: Vec<_> = logs.iter().map(|log| receipt(&fs::read(log).unwrap())).collect();
    let all: Vec<_> = receipts.iter().map(String::as_str).collect();
    let said = check(&dir, &["verify"], 0, &all);
    assert_eq!(said.lines().count(), 3, "{said}");
    let mut bytes = fs::read(&logs[0]).unwrap();
    bytes[300] ^= 1;
    fs::write(&logs[0], bytes).unwrap();
    let said = check(&dir, &["verify"], 3, &["corrupt", "1 of 3 runs", "line 1, byte 0"]);
    assert!(all[1..].iter().all(|receipt| said.contains(receipt)), "{said}");
    let ended = output(&mut pipelines(PROGRAM, dir.path(), &["verify", "--json"]));
    let json: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let good = json.as_array().unwrap().iter().filter(|run| run["ok"] == true);
    assert_eq!((good.count(), json.as_array().unwrap().len()), (2, 3));
}

#[test]
fn a_snapshot_that_says_something_else_than_its_log_is_a_fault() {
    let dir = Dir::new("snapshot");
    row().run(&options(&dir).snapshot_every(1).max_parallel(1)).unwrap();
    check(&dir, &["verify", "row"], 0, &["snapshot   ok"]);
    let log = dir.only_log();
    let path = log.with_file_name(format!("{}.snapshot", log.file_name().unwrap().display()));
    let text = fs::read_to_string(&path).unwrap();
    let (body, _crc) = text.rsplit_once(",\"crc\":\"").unwrap();
    let body = body.replacen("\"attempts\":1", "\"attempts\":2", 1);
    fs::write(&path, format!("{body},\"crc\":\"{}\"}}\n", Crc::of(body.as_bytes()))).unwrap();
    assert_ne!(fs::read_to_string(&path).unwrap(), text);
    check(&dir, &["verify", "row"], 3, &["the snapshot", "remove it", "snapshot   bad"]);
    fs::remove_file(&path).unwrap();
    check(&dir, &["verify", "row"], 0, &[]);
}
