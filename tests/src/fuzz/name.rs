//! The target `name`: any text as each kind of name, and as each other text that a log holds.
//!
//! What is accepted keeps the rule of its kind, is the same text when it is printed, and can be the
//! name of a file that lies where it should. What keeps the rule is accepted.

use std::fmt::Display;
use std::path::{Component, Path};

use apollo::testing::check_artifact_name;
use apollo::{Crc, Digest, RunId, StepId, TaskId, TaskName, Timestamp};

/// What a file system takes as a name, less the longest that is put behind a log's.
const FILE_NAME_BYTES_MAX: usize = 255 - ".jsonl.18446744073709551615.graph_digest.json".len();

pub(super) fn check(input: &[u8]) {
    let text = &*String::from_utf8_lossy(input);
    let word = |most, not_first: &[char]| {
        let alphabet = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let len = (1..=most).contains(&text.len());
        len && text.chars().all(alphabet) && !text.starts_with(not_first)
    };
    check_name(text, TaskName::parse(text), word(100, &['.', '-']));
    check_name(text, TaskId::parse(text), word(128, &['.']));
    check_name(text, StepId::parse(text), word(100, &['.', '-']));
    check_name(text, check_artifact_name(text).map(|()| text), word(100, &['.', '-']));
    check_run(text);
    check_text(text, Timestamp::parse(text));
    check_text(text, Digest::parse(text));
    check_text(text, Crc::parse(text).ok_or(()));
    if let Ok(digest) = Digest::parse(text) {
        check_file_name(&digest.short());
    }
}

/// A run is named by a task_id and a start, each as it is printed.
fn check_run(text: &str) {
    let parts = || {
        let (task_id, start) = text.strip_prefix("task_")?.rsplit_once('_')?;
        let start: u64 = start.parse().ok().filter(|n: &u64| n.to_string() == start)?;
        Some((TaskId::parse(task_id).ok()?, start))
    };
    let expected = parts();
    let run = RunId::parse(text);
    check_name(text, run.clone(), expected.is_some());
    if let (Ok(run), Some((task_id, start))) = (run, expected) {
        assert_eq!(run, RunId::new(&task_id, start));
        assert_eq!(run.parts(), (task_id, start));
    }
}

fn check_name<T: Display, E>(text: &str, parsed: Result<T, E>, expected: bool) {
    assert_eq!(parsed.is_ok(), expected, "{text:?}");
    if parsed.is_ok() {
        check_text(text, parsed);
        check_file_name(text);
    }
}

fn check_text<T: Display, E>(text: &str, parsed: Result<T, E>) {
    if let Ok(parsed) = parsed {
        assert_eq!(parsed.to_string(), text);
    }
}

/// It names a file in the directory that it is put into, and not a hidden one.
fn check_file_name(name: &str) {
    let only = Path::new(name).components().collect::<Vec<_>>();
    assert!(matches!(only[..], [Component::Normal(it)] if it == name), "{name:?}");
    assert!(name.is_ascii() && !name.starts_with('.') && name.len() <= FILE_NAME_BYTES_MAX);
    assert!(!name.contains(['/', '\\', '\0', '\n', ' ', ':']), "{name:?}");
}
