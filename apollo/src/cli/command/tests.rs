use std::path::PathBuf;

use super::super::exit::{FAILED, REFUSED};
use super::super::output::double::Printed;
use super::super::sample::{broken, daily};
use super::*;
use crate::disk::{Disk as _, Open, RealDisk};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("apollo-command-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        drop(RealDisk.remove_dir_all(&path));
        Self(path)
    }

    /// Gives code, stdout and stderr.
    fn say(&self, tasks: &[Task], line: &str) -> (u8, String, String) {
        let (screen, out, err) = Printed::screen();
        let mut args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        args.extend(["--dir".into(), self.0.clone().into_os_string()]);
        let code = answer(&Arc::new(screen), tasks, args);
        (code, out.text(), err.text())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(RealDisk.remove_dir_all(&self.0));
    }
}

#[test]
fn a_done_task_is_said_to_be_done() {
    let place = Place::new("done");
    let (code, out, _err) = place.say(&[daily()], "p");
    assert_eq!(code, SUCCESS);
    assert!(out.contains("daily-7 SUCCESS in ") && out.contains("4 of 4 steps done"), "{out}");
    let (code, out, _err) = place.say(&[daily()], "p");
    assert_eq!(code, SUCCESS);
    assert!(out.contains("nothing was run; `--new` starts a fresh run"), "{out}");
    let (code, out, _err) = place.say(&[daily()], "p inspect daily-7");
    assert_eq!((code, out.lines().next()), (SUCCESS, Some("daily-7 SUCCESS")));
    let (code, out, _err) = place.say(&[daily()], "p verify daily-7");
    assert_eq!(code, SUCCESS);
    assert!(out.contains("12 records") || out.contains("10 records"), "{out}");
}

#[test]
fn a_failed_task_ends_with_one_and_says_where() {
    let place = Place::new("failed");
    let (code, out, err) = place.say(&[broken()], "p");
    assert_eq!(code, FAILED);
    assert!(out.contains("left   FAILED in ") && out.contains("broken\\u{1b}[2J"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out}");
    assert!(err.contains("error: the task failed: step `left`\n  not reached: join\n"), "{err}");
    let (_code, out, _err) = place.say(&[broken()], "p inspect daily-7");
    assert!(out.contains("waits for `left` (FAILED), `right` (FAILED)"), "{out}");
    assert!(out.contains("next, when it is run again: `left`, `right`"), "{out}");
    let (code, out, err) = place.say(&[broken()], "p --quiet");
    assert_eq!((code, out.as_str()), (FAILED, ""));
    assert!(err.contains("error: the task failed"), "{err}");
}

#[test]
fn json_is_the_records_and_one_document() {
    let place = Place::new("json");
    let (_code, out, _err) = place.say(&[daily()], "p --json");
    assert_eq!(out.lines().count(), 10, "{out}");
    assert!(out.lines().all(|line| line.starts_with("{\"timestamp\":\"") && line.ends_with("\"}")));
    for line in
        ["p inspect", "p inspect daily-7", "p verify daily-7", "p list", "p check", "p graph"]
    {
        let (code, out, _err) = place.say(&[daily()], &format!("{line} --json"));
        assert_eq!(code, SUCCESS, "{line}");
        serde_json::from_str::<serde_json::Value>(&out).expect(line);
    }
}

#[test]
fn damage_is_refused_with_its_place() {
    let place = Place::new("damage");
    place.say(&[daily()], "p");
    let logs = place.0.join("logs");
    let names = RealDisk.list(&logs).unwrap();
    let name = names.iter().find(|name| name.ends_with(".jsonl")).unwrap();
    RealDisk.open(&logs.join(name), Open::Write).unwrap().write_at(40, b"X").unwrap();
    for line in ["p verify daily-7", "p inspect daily-7", "p"] {
        let (code, _out, err) = place.say(&[daily()], line);
        assert_eq!(code, REFUSED, "{line}: {err}");
        assert!(err.contains("is corrupt at line 1, byte 0"), "{line}: {err}");
    }
    let (code, out, _err) = place.say(&[daily()], "p inspect");
    assert_eq!(code, SUCCESS);
    assert!(out.starts_with("daily-7"), "{out}");
}

#[test]
fn an_unknown_run_names_those_that_are_near() {
    let place = Place::new("unknown");
    assert_eq!(place.say(&[daily()], "p inspect").0, USAGE);
    place.say(&[daily()], "p");
    let (code, _out, err) = place.say(&[daily()], "p inspect dialy-7");
    assert_eq!(code, USAGE);
    assert!(err.contains("similar name: `daily-7`"), "{err}");
}

#[test]
fn two_tasks_of_one_name_are_refused() {
    let (code, _out, err) = Place::new("twice").say(&[daily(), daily()], "p list");
    assert_eq!(code, USAGE);
    assert!(err.contains("two tasks of this program are called `daily`"), "{err}");
}

#[test]
fn older_unfinished_runs_are_named() {
    let place = Place::new("older");
    place.say(&[broken()], "p --task-day 1");
    let (_code, _out, err) = place.say(&[daily()], "p");
    assert!(err.contains("1 older run of `daily` not finished"), "{err}");
    assert!(err.contains("  daily-1: last record "), "{err}");
}
