//! [`KillPoint`]: where in a run its process was killed, in words.
//!
//! It is not the kill: [`Mortal`](super::mortal::Mortal) dies, and names the place here.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::disk::Op;
use crate::id::StepId;
use crate::record::{Attempt, Event, Record};

/// Where in a run its process was killed; reads after "killed".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillPoint {
    words: String,
    in_once: bool,
}

impl KillPoint {
    /// Before records were written.
    pub(super) fn before(records: &[Record]) -> Self {
        let mut ended = Vec::new();
        for Record { seq, event, .. } in records {
            if let Event::AttemptEnded { attempt: Attempt { step, .. }, .. } = event {
                ended.push(format!(
                    "after the body of `{step}` ended, before its STEP_END was recorded \
                     (record {seq})"
                ));
            }
        }
        match records.first() {
            _ if !ended.is_empty() => Self::new(ended.join("; ")),
            Some(Record { seq: seq @ 1.., event, .. }) => {
                Self::new(format!("before {} was recorded (record {seq})", what(event)))
            }
            _ => Self::new("before the first record".to_owned()),
        }
    }

    /// After records were written, before they were synced and what they start began.
    pub(super) fn after(records: &[Record]) -> Self {
        let mut started = Vec::new();
        for Record { seq, event, .. } in records {
            if let Event::AttemptStarted(Attempt { step, .. }) = event {
                started.push(format!(
                    "after STEP_START of `{step}` was recorded (record {seq}), before its body \
                     began"
                ));
            }
        }
        match records.last() {
            Some(Record { seq, event, .. }) if started.is_empty() => Self::new(format!(
                "after {} was recorded (record {seq}), before it was synced",
                what(event)
            )),
            _ => Self::new(started.join("; ")),
        }
    }

    /// While records were written, of which only the first bytes are kept.
    pub(super) fn torn(records: &[Record], kept_bytes: u64, of_bytes: u64) -> Self {
        let seqs: Vec<_> = records.iter().map(|record| record.seq.to_string()).collect();
        let records = if seqs.len() == 1 { "record" } else { "records" };
        Self::new(format!(
            "in the write of {records} {}, after {kept_bytes} of {of_bytes} bytes",
            seqs.join(", ")
        ))
    }

    /// When a body told how far it is.
    pub(super) fn progress(step: &str, done: u64, total: u64) -> Self {
        Self::new(format!("in the body of `{step}`, when it told its progress, {done} of {total}"))
    }

    /// Before an operation at a path below the directory, while attempts were open, after
    /// `records` records.
    pub(super) fn elsewhere(what: Op, below: &Path, open: &BTreeSet<StepId>, records: u64) -> Self {
        let open: Vec<_> = open.iter().map(|step| format!("`{step}`")).collect();
        let open = open.join(", ");
        let parts: Vec<_> = below.iter().filter_map(|part| part.to_str()).collect();
        let words = match *parts.as_slice() {
            _ if open.is_empty() && records == 0 => "before the first record".to_owned(),
            _ if open.is_empty() => format!("after record {}", records - 1),
            ["state", _, "once", ..] => format!("in the body of {open}, as `ctx.once` kept a mark"),
            ["state", _, file] => {
                let step = file.trim_start_matches('.').trim_end_matches(".tmp");
                let step = step.trim_end_matches(".json");
                format!("after the body of `{step}` ended, before its output was kept")
            }
            ["artifacts", _, ".staging", _] if what == Op::RemoveDirAll => {
                format!("after the artifacts of {open} were published, before its output was kept")
            }
            ["artifacts", _, ".staging", _, name] => {
                format!("in the body of {open}, as it wrote its artifact `{name}`")
            }
            ["artifacts", _, ".staging", ..] => {
                format!("in the body of {open}, as it began an artifact")
            }
            ["artifacts", _, step, ..] => {
                format!("after the body of `{step}` ended, before its artifacts were published")
            }
            ["output", ..] => format!("in the body of {open}, as it logged a line"),
            // The directories of a step are made by the body or for what it returned.
            _ => format!("in the body of {open}, or right after it"),
        };
        Self { words, in_once: parts.get(2) == Some(&"once") }
    }

    /// Whether the body was in `once`, so that nobody knew whether the effect had happened.
    pub(super) const fn is_in_once(&self) -> bool {
        self.in_once
    }

    const fn new(words: String) -> Self {
        Self { words, in_once: false }
    }
}

impl fmt::Display for KillPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// A record, as a person calls it.
fn what(event: &Event) -> String {
    match event {
        Event::EpochOpened(_) => "the opening TASK_SUMMARY".to_owned(),
        Event::EpochClosed(_) => "the closing TASK_SUMMARY".to_owned(),
        Event::AttemptStarted(attempt) => format!("STEP_START of `{}`", attempt.step),
        Event::AttemptEnded { attempt, .. } => format!("STEP_END of `{}`", attempt.step),
        Event::Skipped { step, .. } => format!("STEP_END of `{step}`"),
    }
}
