//! What somebody sees who tails the log of a running pipeline: whole lines only, keys in order.
//!
//! The story of the bug: a record written in two pieces is half a line for whoever reads between.
//! One write is the most that a program can do; a reader that is faster than the kernel's copy may
//! still see the newline a few microseconds late, and waits for it, as every reader of lines does.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use apollo::RunOptions;
use apollo_tests::child::{kill, until};
use apollo_tests::dir::Dir;
use apollo_tests::log::KEYS;
use apollo_tests::pipelines::thousand::thousand_side_by_side;

/// The keys of one line, in the order in which they stand.
fn keys(line: &str) -> Vec<String> {
    let mut at = serde_json::Deserializer::from_str(line);
    serde::Deserializer::deserialize_map(&mut at, Keys).expect("a line of JSON")
}

struct Keys;

impl<'de> serde::de::Visitor<'de> for Keys {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, serde::de::IgnoredAny)) = map.next_entry()? {
            keys.push(key);
        }
        Ok(keys)
    }
}

/// What `tail -f` shows from the first line on, until the log is closed.
fn tail(log: &Path) -> Vec<String> {
    let mut tail = Command::new("tail")
        .args(["-n", "+1", "-f", "-s", "0.01"])
        .arg(log)
        .stdout(Stdio::piped())
        .spawn()
        .expect("tail starts");
    let shown = BufReader::new(tail.stdout.take().expect("a pipe"));
    let mut lines = Vec::new();
    for line in shown.lines() {
        let line = line.expect("UTF-8");
        assert_eq!(keys(&line), KEYS, "{line}");
        let closes = line.contains(r#""event_type":"TASK_SUMMARY","status":"SUCCESS""#);
        lines.push(line);
        if closes {
            break;
        }
    }
    kill(tail);
    lines
}

#[test]
fn whoever_tails_a_running_log_sees_whole_lines() {
    let dir = Dir::new("tail");
    let lines = std::thread::scope(|scope| {
        let shown = scope.spawn(|| tail(&until("the log is there", || dir.logs().pop())));
        thousand_side_by_side().run(&RunOptions::new().dir(dir.apollo())).unwrap();
        shown.join().unwrap()
    });
    let log = std::fs::read_to_string(dir.only_log()).unwrap();
    assert_eq!(lines, log.lines().collect::<Vec<_>>());
    assert_eq!(lines.len(), 2 + 2 * 1_000);
}
