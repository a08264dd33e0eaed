//! Logs that were cut or damaged, and logs that change under a running engine.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use apollo::{AdmissionError, EngineError, ReadError, RunError};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::{begun, options, ran, script};
use apollo_tests::pipelines::scripted::row;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

/// A run whose third step failed.
fn failed(word: &str) -> (Dir, PathBuf, Vec<u8>) {
    let dir = Dir::new(word);
    script(&dir, "third", "fail");
    assert!(row().run(&options(&dir)).is_err());
    script(&dir, "third", "");
    ran(&dir);
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    (dir, log, bytes)
}

#[test]
fn cut_at_every_byte_of_its_last_commit_the_log_is_sealed_and_the_rest_is_kept() {
    let (dir, log, bytes) = failed("cut");
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    // What the last line with a higher `durable` vouches for can't be cut without being missed,
    // but a file that merely ends early is one that a crash left.
    let kept: usize = lines[..lines.len() - 2].iter().map(|line| line.len()).sum();
    let mut copies = Vec::new();
    for len in (kept..bytes.len()).step_by(11) {
        fs::write(&log, &bytes[..len]).unwrap();
        row().run(&options(&dir)).unwrap();
        let whole = bytes[..len].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        let sealed = fs::read(&log).unwrap();
        assert!(sealed.starts_with(&bytes[..whole]), "cut at {len}: a valid record is never cut");
        let torn = log
            .with_file_name(format!("{}.torn-{whole}", log.file_name().unwrap().to_str().unwrap()));
        if whole < len {
            assert_eq!(fs::read(&torn).unwrap(), &bytes[whole..len], "cut at {len}");
            assert!(Log::read(&log).warnings().contains("torn tail"));
            fs::remove_file(torn).unwrap();
        }
        let copy = dir.path().join(format!("{len}.jsonl"));
        fs::copy(&log, &copy).unwrap();
        copies.push(copy);
    }
    judge(&copies);
}

#[test]
fn nuls_and_rubbish_behind_the_last_record_are_a_torn_tail() {
    let (dir, log, bytes) = failed("nuls");
    for tail in [vec![0; 5_000], b"rubbish".to_vec(), b"{\"timestamp\":\"".to_vec(), vec![0xff; 90]]
    {
        fs::write(&log, [bytes.clone(), tail].concat()).unwrap();
        row().run(&options(&dir)).unwrap();
        judge(std::slice::from_ref(&log));
    }
}

fn refused(dir: &Dir, log: &PathBuf, damaged: &[u8], line: u64, offset: u64) {
    fs::write(log, damaged).unwrap();
    let result = row().run(&options(dir));
    let Err(RunError::Admission(AdmissionError::Read {
        source: ReadError::Corrupt { line: seen, offset_bytes, .. },
    })) = &result
    else {
        panic!("{result:?}")
    };
    assert_eq!((*seen, *offset_bytes), (line, offset));
    assert_eq!(fs::read(log).unwrap(), damaged, "of a refused log no byte is changed");
}

#[test]
fn a_damaged_record_that_was_synced_is_refused_with_its_place() {
    let (dir, log, bytes) = failed("damaged");
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let second = lines[0].len();
    let mut flipped = bytes.clone();
    flipped[second + 40] ^= 1;
    refused(&dir, &log, &flipped, 2, second as u64);
    let mut joined = bytes.clone();
    joined[second - 1] ^= 1;
    refused(&dir, &log, &joined, 1, 0);
    let swapped = [lines[0], lines[2], lines[1]].concat();
    let swapped = [swapped, lines[3..].concat()].concat();
    refused(&dir, &log, &swapped, 2, second as u64);
    let doubled = [&bytes[..second], &bytes[..]].concat();
    refused(&dir, &log, &doubled, 2, second as u64);
    let missing = [lines[0].to_vec(), lines[2..].concat()].concat();
    refused(&dir, &log, &missing, 2, second as u64);

    fs::write(&log, &flipped).unwrap();
    let told = output(&mut pipelines(PROGRAM, dir.path(), &["run", "row"]));
    assert_eq!(told.status.code(), Some(3), "{}", said(&told));
    for part in
        ["line 2", &format!("byte {second}"), "crc", &*log.file_name().unwrap().to_string_lossy()]
    {
        assert!(said(&told).contains(part), "`{part}` in {}", said(&told));
    }
}

/// Does something to the log while a step runs; the run ends as a storage failure.
fn while_running(word: &str, act: impl Fn(&PathBuf)) {
    let dir = Dir::new(word);
    script(&dir, "second", "hang");
    let result = std::thread::scope(|scope| {
        let run = scope.spawn(|| row().run(&options(&dir)));
        begun(&dir, "second");
        act(&dir.only_log());
        script(&dir, "second.go", "");
        run.join().unwrap()
    });
    assert!(matches!(result, Err(RunError::Engine(EngineError::Log { .. }))), "{word}: {result:?}");
    assert_eq!(ran(&dir), ["first 0", "second 0"], "nothing is started after that");
}

#[test]
fn a_log_that_is_removed_replaced_rotated_cut_or_written_by_another_is_noticed() {
    while_running("removed", |log| fs::remove_file(log).unwrap());
    while_running("renamed", |log| fs::rename(log, log.with_extension("moved")).unwrap());
    while_running("replaced", |log| {
        let bytes = fs::read(log).unwrap();
        fs::remove_file(log).unwrap();
        fs::write(log, bytes).unwrap();
    });
    // What `logrotate` does, by its two ways.
    while_running("rotated", |log| {
        fs::rename(log, log.with_extension("1")).unwrap();
        fs::write(log, "").unwrap();
    });
    while_running("copied-and-cut", |log| {
        fs::copy(log, log.with_extension("1")).unwrap();
        fs::File::options().write(true).open(log).unwrap().set_len(0).unwrap();
    });
    while_running("shortened", |log| {
        fs::File::options().write(true).open(log).unwrap().set_len(100).unwrap();
    });
    while_running("appended", |log| {
        fs::File::options().append(true).open(log).unwrap().write_all(b"x\n").unwrap();
    });
}

#[test]
fn the_limit_on_file_sizes_is_an_error_and_a_torn_line() {
    let dir = Dir::new("limit");
    let mut limited = pipelines("sh", dir.path(), &["-c", "ulimit -f 4; exec \"$0\" run row"]);
    let said = said(&output(limited.arg(PROGRAM)));
    assert!(said.contains("the log failed"), "{said}");
    row().run(&options(&dir)).unwrap();
    judge(&dir.logs());
}
