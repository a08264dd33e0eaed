//! [`Log`]: a log as any other program reads it: JSON, line by line.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The keys of every line, in their order.
pub const KEYS: [&str; 15] = [
    "timestamp",
    "step_id",
    "event_type",
    "status",
    "retry_count",
    "input_digest",
    "output_digest",
    "error_message",
    "duration_ms",
    "seq",
    "epoch",
    "durable",
    "detail",
    "prev",
    "crc",
];

/// A log as it was read.
#[derive(Debug, Clone)]
pub struct Log {
    /// Where it was read.
    pub path: PathBuf,
    /// Its lines.
    pub records: Vec<Value>,
}

impl Log {
    /// Reads a log.
    ///
    /// # Panics
    /// When it can't be read, or a line is no JSON.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a readable log");
        let parse = |line| serde_json::from_str(line).expect("a line of JSON");
        Self { path: path.to_owned(), records: text.lines().map(parse).collect() }
    }

    /// The records of one step.
    pub fn of<'a>(&'a self, step: &'a str) -> impl Iterator<Item = &'a Value> {
        self.records.iter().filter(move |record| record["step_id"] == *step)
    }

    /// How many records of a step are of a kind and have a status.
    pub fn count(&self, step: &str, event: &str, status: &str) -> usize {
        self.of(step).filter(|one| one["event_type"] == *event && one["status"] == *status).count()
    }

    /// The words of a run: each record as `step EVENT STATUS retry_count`, summaries as `EVENT`.
    pub fn story(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let tell = |one: &Value| match text(&one["step_id"]).as_str() {
            "-" => format!("TASK {}", text(&one["status"])),
            step => {
                let event = text(&one["event_type"]).replace("STEP_", "");
                format!("{step} {event} {} {}", text(&one["status"]), one["retry_count"])
            }
        };
        self.records.iter().map(tell).collect()
    }

    /// The headers, in their order.
    pub fn headers(&self) -> Vec<&Value> {
        let opens =
            |one: &&Value| one["event_type"] == "TASK_SUMMARY" && one["status"] == "RUNNING";
        self.records.iter().filter(opens).collect()
    }

    /// The warnings of the last header, joined.
    pub fn warnings(&self) -> String {
        self.headers()
            .last()
            .map(|header| header["detail"]["warnings"].to_string())
            .unwrap_or_default()
    }
}

/// What the independent reader says of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Every rule holds.
    Content,
    /// There is no independent reader here: it is no part of this repository.
    Skipped,
}

/// Lets the independent reader judge logs, where it is at hand.
///
/// # Panics
/// With its words, when a rule is broken.
pub fn judge(logs: &[PathBuf]) -> Judgement {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = here.join("../../shared/tools/check_log.py");
    let tool = std::env::var_os("APOLLO_CHECK_LOG")
        .map_or_else(
            || {
                here.ancestors()
                    .map(|dir| dir.join("shared/tools/check_log.py"))
                    .find(|it| it.exists())
            },
            |set| Some(set.into()),
        )
        .unwrap_or(tool);
    if !tool.exists() || logs.is_empty() {
        return Judgement::Skipped;
    }
    let Ok(output) = Command::new("python3").arg(&tool).args(logs).output() else {
        return Judgement::Skipped;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the independent reader refuses:\n{said}");
    Judgement::Content
}
