//! Damaged logs: refused with their place, repaired by a person's word, and finished by a plain run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apollo::testing::{CrashDisk, Fault};
use apollo::{Context, RepairError, Result, RunError, Status, plan_repair, repair, step, task};
use apollo_tests::child::{output, pipelines, said};
use apollo_tests::dir::Dir;
use apollo_tests::disk::TestDisk;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::{begun, options, ran, script};
use apollo_tests::pipelines::scripted::{act, cleaning, diamond, home, row};
use rustix::io::Errno;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipelines");

/// Runs a command that must end with this code; gives what it said.
fn check(dir: &Dir, args: &[&str], code: i32, parts: &[&str]) -> String {
    let ended = output(&mut pipelines(PROGRAM, dir.path(), args));
    let said = said(&ended);
    assert_eq!(ended.status.code(), Some(code), "{args:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in what {args:?} said: {said}");
    }
    said
}

/// A run of three steps in a row that is done, and the eight lines of its log.
fn done(word: &str) -> (Dir, PathBuf, Vec<Vec<u8>>) {
    let dir = Dir::new(word);
    row().run(&options(&dir)).unwrap();
    ran(&dir);
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    (dir, log, bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}

/// A file that belongs to a log.
fn beside(log: &Path, what: &str) -> PathBuf {
    let name = log.file_name().unwrap().to_str().unwrap();
    log.with_file_name(format!("{name}.{what}"))
}

/// Lets a log be damaged, refused at a line, planned, repaired and finished. `lost` are the steps
/// whose results are lost, as the repair says it.
fn mended(word: &str, line: usize, lost: &[&str], damage: impl Fn(&mut Vec<Vec<u8>>)) {
    let (dir, log, mut lines) = done(word);
    damage(&mut lines);
    let bad = lines.concat();
    let good: Vec<u8> = lines[..line - 1].concat();
    fs::write(&log, &bad).unwrap();
    let place = format!("line {line}, byte {}", good.len());
    check(&dir, &["run", "row"], 3, &["is corrupt at", &place, "repair row --dry-run"]);
    check(&dir, &["verify", "row"], 3, &["is corrupt at", &place, "sha256:", "repair row"]);
    let before = dir.everything();
    check(&dir, &["repair", "row", "--dry-run"], 0, &["would be repaired", &place]);
    assert_eq!(dir.everything(), before, "{word}: a dry run writes nothing");

    let said = check(&dir, &["repair", "row"], 0, &["repaired", &place, ".corrupt-0"]);
    let told = said.lines().filter(|line| line.ends_with("runs again"));
    let told: Vec<_> =
        told.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(told, lost, "{word}: {said}");
    assert_eq!(fs::read(&log).unwrap(), good, "{word}");
    assert_eq!(fs::read(beside(&log, "corrupt-0")).unwrap(), bad, "{word}");
    check(&dir, &["repair", "row"], 0, &["nothing to repair"]);

    check(&dir, &["run", "row"], 0, &["the log was repaired"]);
    let again: Vec<_> = lost.iter().filter_map(|step| step.split(' ').next()).collect();
    let ran = ran(&dir);
    let ran: Vec<_> = ran.iter().filter_map(|step| step.split(' ').next()).collect();
    assert_eq!(ran, again, "{word}: what is lost runs again, and nothing else");
    assert!(fs::read(&log).unwrap().starts_with(&good), "{word}");
    check(&dir, &["verify", "row"], 0, &["ok"]);
    judge(&[log]);
}

/// All three steps, where only the start of the first is good.
const ALL: [&str; 3] = [
    "first SUCCESS runs again",
    "second SUCCESS of attempt 1 runs again",
    "third SUCCESS of attempt 1 runs again",
];
/// The last two.
const TWO: [&str; 2] = [ALL[1], ALL[2]];

#[test]
fn a_flipped_bit_costs_the_records_behind_it() {
    mended("bit", 3, &ALL, |lines| lines[2][40] ^= 1);
}

#[test]
fn a_flipped_newline_costs_two_lines_and_those_behind_them() {
    mended("newline", 4, &TWO, |lines| *lines[3].last_mut().unwrap() ^= 1);
}

#[test]
fn swapped_lines_cost_both_and_those_behind_them() {
    mended("swapped", 4, &TWO, |lines| lines.swap(3, 4));
}

#[test]
fn a_doubled_line_costs_those_behind_it() {
    mended("doubled", 4, &TWO, |lines| lines.insert(3, lines[2].clone()));
}

#[test]
fn a_missing_line_costs_those_behind_it() {
    mended("missing", 4, &TWO, |lines| drop(lines.remove(3)));
}

#[test]
fn a_checksum_in_capitals_costs_its_line_and_those_behind_it() {
    // Not every checksum has a letter.
    mended("capitals", 4, &TWO, |lines| {
        let at = lines[3].len() - 12;
        lines[3].splice(at.., *b"\"0000ABCD\"}\n");
    });
}

#[test]
fn a_line_of_another_run_costs_it_and_those_behind_it() {
    let (_dir, _log, other) = done("other");
    mended("foreign", 4, &TWO, |lines| lines[3].clone_from(&other[3]));
}

#[test]
fn a_damaged_first_line_costs_everything_and_the_run_begins_again_under_its_name() {
    let lost = [
        "first SUCCESS of attempt 1 runs again",
        "second SUCCESS of attempt 1 runs again",
        "third SUCCESS of attempt 1 runs again",
    ];
    mended("first", 1, &lost, |lines| lines[0][40] ^= 1);
}

#[test]
fn a_resumed_run_is_what_it_was_when_its_first_epoch_ended() {
    let (dir, log, lines) = done("epochs");
    row().run(&options(&dir).resume_from("third").unwrap()).unwrap();
    ran(&dir);
    let mut bad = fs::read(&log).unwrap();
    let good = lines.concat().len();
    bad[good + 40] ^= 1;
    fs::write(&log, &bad).unwrap();
    let said = check(&dir, &["repair", "row"], 0, &["the run is done", "--resume-from"]);
    assert!(said.contains("is SUCCESS by an earlier record"), "{said}");
    check(&dir, &["run", "row"], 0, &["nothing was run"]);
    check(&dir, &["run", "row", "--resume-from", "third"], 0, &[]);
    judge(&[log]);
}

/// A run of three steps in a row that is done, and has a snapshot of all but its last records.
fn with_snapshot(word: &str) -> (Dir, PathBuf, Vec<u8>) {
    let dir = Dir::new(word);
    // With one worker nobody is busy with a snapshot when the next one is due.
    row().run(&options(&dir).snapshot_every(1).max_parallel(1)).unwrap();
    ran(&dir);
    let log = dir.only_log();
    let bytes = fs::read(&log).unwrap();
    assert!(beside(&log, "snapshot").exists());
    (dir, log, bytes)
}

#[test]
fn what_a_log_lost_that_is_shorter_than_its_snapshot_the_snapshot_tells() {
    let (dir, log, bytes) = with_snapshot("shorter");
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let ends: Vec<_> = newlines.map(|(at, _)| at + 1).collect();
    let snapshot = fs::read(beside(&log, "snapshot")).unwrap();
    fs::write(&log, &bytes[..ends[1]]).unwrap();
    check(&dir, &["run", "row"], 3, &["is corrupt at line 3", "snapshot"]);
    check(&dir, &["verify", "row"], 3, &["is corrupt at line 3", "sha256:"]);
    let said = check(
        &dir,
        &["repair", "row"],
        0,
        &["repaired", "kept     2 records", "the end of the log"],
    );
    for step in ["first", "second"] {
        let row = said.lines().find(|line| line.trim_start().starts_with(step)).unwrap();
        assert!(row.contains("SUCCESS") && row.ends_with("runs again"), "{said}");
    }
    assert!(!beside(&log, "snapshot").exists());
    assert_eq!(fs::read(beside(&log, "corrupt-0.snapshot")).unwrap(), snapshot);
    assert_eq!(fs::read(&log).unwrap(), &bytes[..ends[1]]);
    check(&dir, &["run", "row"], 0, &["SUCCESS"]);
    assert_eq!(ran(&dir), ["first 1", "second 0", "third 0"]);
    check(&dir, &["verify", "row"], 0, &[]);
    judge(&[log]);
}

#[test]
fn a_line_for_which_only_the_snapshot_vouches_is_kept_and_not_taken_for_a_torn_tail() {
    let (dir, log, bytes) = with_snapshot("vouched");
    let ends: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).collect();
    let mut bad = bytes[..ends[..5].iter().sum()].to_vec();
    let start: usize = ends[..4].iter().sum();
    bad[start + 40] ^= 1;
    fs::write(&log, &bad).unwrap();
    check(&dir, &["run", "row"], 3, &["is corrupt at line 5", "the snapshot says"]);
    check(&dir, &["repair", "row"], 0, &["at line 5", "in which no record can be read"]);
    assert_eq!(fs::read(beside(&log, "corrupt-0")).unwrap(), bad);
    check(&dir, &["run", "row"], 0, &["SUCCESS"]);
    judge(&[log]);
}

#[test]
fn every_golden_log_that_is_damaged_can_be_repaired_and_finished() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v1");
    for name in [
        "contradiction",
        "doubled_line",
        "flipped_bit",
        "flipped_newline",
        "missing_line",
        "swapped_lines",
        "upper_case_crc",
    ] {
        let dir = Dir::new("golden");
        let log = dir.apollo().join("logs/task_diamond_1700000000.jsonl");
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        let bad = fs::read(fixtures.join(format!("{name}.jsonl"))).unwrap();
        fs::write(&log, &bad).unwrap();
        assert!(diamond().run(&options(&dir)).is_err(), "{name}");
        let planned = plan_repair(&options(&dir), "diamond").unwrap();
        let repaired = repair(&options(&dir), "diamond").unwrap();
        assert_eq!(planned.damage, repaired.damage, "{name}");
        let damage = repaired.damage.unwrap();
        assert_eq!(damage.line, repaired.records + 1, "{name}");
        assert_eq!(fs::read(repaired.kept.unwrap()).unwrap(), bad, "{name}");
        assert_eq!(fs::read(&log).unwrap(), bad[..damage.offset_bytes as usize], "{name}");
        let summary = diamond().run(&options(&dir)).unwrap();
        assert_eq!(summary.status, Status::Success, "{name}");
        judge(&[log]);
    }
}

#[test]
fn a_log_of_another_schema_is_not_repaired() {
    let (dir, log, _lines) = done("schema");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v1");
    fs::copy(fixtures.join("unknown_schema.jsonl"), &log).unwrap();
    let before = fs::read(&log).unwrap();
    check(&dir, &["repair", "row"], 3, &["schema"]);
    assert_eq!(fs::read(&log).unwrap(), before);
}

#[test]
fn what_is_not_damaged_is_left_alone() {
    let (dir, log, lines) = done("sound");
    let files = || {
        let mut files = dir.everything();
        files.retain(|(name, _bytes)| !name.ends_with(".lock"));
        files
    };
    let before = files();
    check(&dir, &["repair", "row"], 0, &["nothing to repair", "8 records"]);
    let torn = [lines[..6].concat(), lines[6][..30].to_vec()].concat();
    fs::write(&log, torn).unwrap();
    let torn = files();
    check(&dir, &["repair", "row"], 0, &["nothing to repair", "torn tail"]);
    assert_eq!(files(), torn);
    fs::write(&log, lines.concat()).unwrap();
    assert_eq!(files(), before);
    check(&dir, &["repair", "rwo"], 2, &["similar name: `row`"]);
    check(&dir, &["repair"], 2, &[]);
    let nowhere = Dir::new("nowhere");
    check(&nowhere, &["repair", "row"], 2, &["there is no directory"]);
    assert!(!nowhere.apollo().exists(), "a directory that is not there is not made");
    let unknown = repair(&options(&dir), "rwo");
    assert!(matches!(unknown, Err(RepairError::Unknown { .. })), "{unknown:?}");
}

#[test]
fn who_works_on_the_run_is_named_and_not_disturbed() {
    let dir = Dir::new("works");
    script(&dir, "second", "hang");
    let child = pipelines(PROGRAM, dir.path(), &["run", "row"]).spawn().unwrap();
    begun(&dir, "second");
    let before = fs::read(dir.only_log()).unwrap();
    check(&dir, &["repair", "row"], 4, &[&child.id().to_string(), "wait until it ends"]);
    check(&dir, &["repair", "row", "--dry-run"], 0, &["nothing to repair"]);
    assert_eq!(fs::read(dir.only_log()).unwrap(), before);
    script(&dir, "second.go", "");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn what_is_lost_is_one_document_with_json() {
    let (dir, log, mut lines) = done("json");
    lines[4][40] ^= 1;
    fs::write(&log, lines.concat()).unwrap();
    let json = |args: &[&str]| -> Value {
        let ended = output(&mut pipelines(PROGRAM, dir.path(), args));
        serde_json::from_slice(&ended.stdout).unwrap()
    };
    let planned = json(&["repair", "row", "--dry-run", "--json"]);
    assert_eq!((&planned["dry_run"], &planned["kept"]), (&true.into(), &Value::Null));
    let repaired = json(&["repair", "row", "--json"]);
    let damage = &repaired["damage"];
    assert_eq!(&planned["damage"], damage);
    assert_eq!(repaired["records"], 4);
    assert_eq!((&damage["line"], &damage["records"]), (&5.into(), &3.into()));
    assert_eq!(damage["task"], "SUCCESS");
    let [second, third] = &damage["steps"].as_array().unwrap()[..] else { panic!("{damage}") };
    assert_eq!((&second["step"], &second["retry_count"]), (&"second".into(), &Value::Null));
    assert_eq!((&third["status"], &third["retry_count"]), (&"SUCCESS".into(), &0.into()));
    assert!(Path::new(repaired["kept"].as_str().unwrap()).exists());
    let sound = json(&["repair", "row", "--json"]);
    assert_eq!((&sound["damage"], &sound["kept"]), (&Value::Null, &Value::Null));
}

/// The files of a directory's logs, without the lock.
fn logs(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir.apollo().join("logs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".lock") {
            files.push((name, fs::read(path).unwrap()));
        }
    }
    files.sort();
    files
}

/// A directory with a damaged log and a snapshot of it.
fn damaged(word: &str, lines: &[Vec<u8>], name: &str) -> Dir {
    let dir = Dir::new(word);
    let logs = dir.apollo().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let mut bad = lines.to_vec();
    bad[3][40] ^= 1;
    fs::write(logs.join(name), bad.concat()).unwrap();
    fs::write(logs.join(format!("{name}.snapshot")), "of more records").unwrap();
    dir
}

#[test]
fn killed_at_every_operation_the_same_command_ends_the_same() {
    let (_dir, log, lines) = done("whole");
    let name = log.file_name().unwrap().to_str().unwrap();
    let whole = damaged("whole", &lines, name);
    check(&whole, &["repair", "row"], 0, &["repaired"]);
    let expected = logs(&whole);
    let (mut dirs, mut judged) = (Vec::new(), Vec::new());
    for how in ["", ":torn"] {
        for at in 1.. {
            let dir = damaged("killed", &lines, name);
            let mut command = pipelines(PROGRAM, dir.path(), &["repair", "row"]);
            let ended = output(command.env("APOLLO_CRASH_AT", format!("{at}{how}")));
            if ended.status.code() == Some(0) {
                assert!(at > 10, "a repair has more operations than {at}");
                break;
            }
            assert!(ended.status.code().is_none(), "{at}{how} kills: {}", said(&ended));
            check(&dir, &["repair", "row"], 0, &[]);
            assert_eq!(logs(&dir), expected, "killed at {at}{how}");
            row().run(&options(&dir).disk(TestDisk::quick())).unwrap();
            judged.push(dir.only_log());
            dirs.push(dir);
        }
    }
    judge(&judged);
    println!("a repair was killed {} times", dirs.len());
}

#[test]
fn killed_where_only_the_snapshot_tells_of_the_damage_the_run_goes_on_from_the_same_records() {
    let (source, log, bytes) = with_snapshot("window");
    let ends: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).collect();
    let good: usize = ends[..4].iter().sum();
    let mut rotten = bytes[..good + ends[4]].to_vec();
    rotten[good + 40] ^= 1;
    let snapshot = fs::read(beside(&log, "snapshot")).unwrap();
    let (mut dirs, mut judged) = (Vec::new(), Vec::new());
    for bad in [&bytes[..good], &rotten] {
        for at in 1.. {
            let dir = Dir::new("window");
            let log = dir.apollo().join(log.strip_prefix(source.apollo()).unwrap());
            fs::create_dir_all(log.parent().unwrap()).unwrap();
            fs::write(&log, bad).unwrap();
            fs::write(beside(&log, "snapshot"), &snapshot).unwrap();
            let mut command = pipelines(PROGRAM, dir.path(), &["repair", "row"]);
            let ended = output(command.env("APOLLO_CRASH_AT", format!("{at}")));
            if ended.status.code() == Some(0) {
                assert!(at > 10, "a repair has more operations than {at}");
                break;
            }
            check(&dir, &["repair", "row"], 0, &[]);
            row().run(&options(&dir).disk(TestDisk::quick())).unwrap();
            assert!(fs::read(&log).unwrap().starts_with(&bytes[..good]), "killed at {at}");
            let kept = |(name, bytes): &(String, Vec<u8>)| {
                let is_tail = name.contains(".torn-") && *bytes == bad[good..];
                is_tail || (name.contains(".corrupt-") && bytes.starts_with(bad))
            };
            assert!(logs(&dir).iter().any(kept), "killed at {at}: what was damaged is kept");
            judged.push(log);
            dirs.push(dir);
        }
    }
    judge(&judged);
}

#[test]
fn failing_at_every_operation_it_says_so_and_the_same_command_ends_the_same() {
    let (_dir, log, lines) = done("fails");
    let name = log.file_name().unwrap().to_str().unwrap();
    let whole = damaged("whole", &lines, name);
    repair(&options(&whole), "row").unwrap();
    let expected = logs(&whole);
    for fault in [
        Fault::Fail(Errno::IO),
        Fault::Fail(Errno::NOSPC),
        Fault::Fail(Errno::DQUOT),
        Fault::Fail(Errno::ROFS),
        Fault::Short,
        Fault::Dead,
    ] {
        for at in 1.. {
            let dir = damaged("failing", &lines, name);
            let disk = Arc::new(CrashDisk::new(TestDisk::quick(), at, fault));
            let result = repair(&options(&dir).disk(disk.clone()), "row");
            let Some((operation, path)) = disk.met() else {
                assert!(at > 10, "a repair has more operations than {at}");
                break;
            };
            // Naming who holds the lock is for people.
            let is_lock = path.extension().is_some_and(|end| end == "lock");
            let tolerated = is_lock && operation != "create" && fault != Fault::Dead;
            let place = format!("{fault:?} at {at}, {operation} of {}", path.display());
            match result {
                Ok(_) => assert!(tolerated, "{place}"),
                Err(RepairError::Log { .. } | RepairError::Lock { .. }) => {}
                Err(other) => panic!("{place}: {other:?}"),
            }
            repair(&options(&dir).disk(TestDisk::quick()), "row").unwrap();
            assert_eq!(logs(&dir), expected, "{place}");
        }
    }
}

#[test]
fn the_command_line_says_five_when_the_disk_says_no() {
    let (_dir, log, lines) = done("five");
    let name = log.file_name().unwrap().to_str().unwrap();
    let dir = damaged("five", &lines, name);
    let mut command = pipelines(PROGRAM, dir.path(), &["repair", "row"]);
    let ended = output(command.env("APOLLO_CRASH_AT", "5:enospc"));
    assert_eq!(ended.status.code(), Some(5), "{}", said(&ended));
    assert!(said(&ended).contains("MiB free"), "{}", said(&ended));
}

#[test]
fn an_attempt_of_a_repaired_run_cleans_up_although_no_record_tells_of_another_one() {
    let dir = Dir::new("dirty");
    script(&dir, "dirty", "fail");
    assert!(matches!(cleaning().run(&options(&dir)), Err(RunError::Failed { .. })));
    let swept = || fs::read_to_string(dir.path().join("swept")).unwrap_or_default();
    assert_eq!(swept(), "1\n2\n");
    fs::remove_file(dir.path().join("swept")).unwrap();
    // The start of the first attempt itself is what nobody can read any more.
    let log = dir.only_log();
    let mut bytes = fs::read(&log).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 40] ^= 1;
    fs::write(&log, bytes).unwrap();
    repair(&options(&dir), "cleaning").unwrap();
    script(&dir, "dirty", "");
    cleaning().run(&options(&dir)).unwrap();
    assert_eq!(swept(), "0\n", "the first attempt on record is not the first one");
    judge(&[log]);
}

/// Returns another value at each attempt.
#[step]
fn source(ctx: &Context) -> Result<u64> {
    act(ctx)?;
    let path = home(ctx)?.join("counter");
    let before = fs::read_to_string(&path).unwrap_or_default().len() as u64;
    fs::write(path, "x".repeat(before as usize + 1))?;
    Ok(before)
}

/// Writes a row that carries its tag, after deleting those with the tags of all attempts.
#[step(depends_on = [source])]
fn rows(ctx: &Context, source: &u64) -> Result<()> {
    let path = home(ctx)?.join("rows");
    let read = || fs::read_to_string(&path).unwrap_or_default();
    ctx.replace_tagged(
        |tags| {
            let tagged = |row: &&str| tags.iter().any(|tag| row.contains(&tag.to_string()));
            let rest: String = read().lines().filter(|row| !tagged(row)).collect();
            Ok(fs::write(&path, rest)?)
        },
        |tag| Ok(fs::write(&path, format!("{}{tag} {source}\n", read()))?),
    )
}

task! { tagged { steps: [source, rows] } }

#[test]
fn what_a_lost_attempt_wrote_under_its_tag_is_replaced() {
    let dir = Dir::new("tagged");
    tagged().run(&options(&dir)).unwrap();
    let rows = || fs::read_to_string(dir.path().join("rows")).unwrap();
    assert!(rows().ends_with(" 0\n") && rows().lines().count() == 1, "{}", rows());
    let log = dir.only_log();
    let mut bytes = fs::read(&log).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 40] ^= 1;
    fs::write(&log, bytes).unwrap();
    repair(&options(&dir), "tagged").unwrap();
    tagged().run(&options(&dir)).unwrap();
    assert!(rows().ends_with(" 1\n"), "the source gave another value: {}", rows());
    assert_eq!(rows().lines().count(), 1, "the row of the lost attempt is gone: {}", rows());
    assert!(Log::read(&log).warnings().contains("the log was repaired"));
    judge(&[log]);
}
