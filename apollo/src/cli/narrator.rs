//! [`Narrator`]: tells a person what a run does, line by line.
//!
//! It is not the log: what is told here is gone with the screen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::output::Screen;
use super::text::{
    Style, bytes, count, duration, escaped, first_line, shown_path, status_style, time_of_day,
};
use crate::clock::{Clock as _, SystemClock};
use crate::graph::Graph;
use crate::observer::{Notice, Observer};
use crate::policy::Need;
use crate::record::{ArtifactEntry, Attempt, End, Event, FailReason, Header, OpenReason, Record};
use crate::state::Status;
use crate::time::Timestamp;

/// The longest column for the ids of steps.
const ID_WIDTH_MAX: usize = 32;

/// How many lines of an error are told; the log has all of them.
const ERROR_LINES_MAX: usize = 12;

/// Tells what a run does as lines for people.
#[derive(Debug)]
pub(crate) struct Narrator {
    screen: Arc<Screen>,
    graph: Graph,
    id_width: usize,
    clock: SystemClock,
    /// The last tenth that each step told to have reached.
    tenths: Mutex<BTreeMap<String, u64>>,
}

/// Prints the records of a run as they stand in its log.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Where to.
    pub(crate) screen: Arc<Screen>,
}

impl Observer for Recorder {
    fn notice(&self, notice: Notice<'_>) {
        match notice {
            Notice::Record(record) => match record.encode("log") {
                Ok(line) => self.screen.raw(&line.bytes),
                Err(error) => self.screen.note(Style::Bad, "error", &error.to_string()),
            },
            Notice::Warning(text) => self.screen.note(Style::Warn, "warning", text),
            Notice::Log(_) | Notice::Line { .. } | Notice::Progress { .. } => {}
        }
    }
}

impl Observer for Narrator {
    fn notice(&self, notice: Notice<'_>) {
        match notice {
            Notice::Log(path) => self.screen.line(&format!("log: {}", shown_path(path))),
            Notice::Record(record) => self.record(record),
            Notice::Line { step, line } => {
                for line in line.lines() {
                    self.tell(self.clock.now(), step, &format!("| {}", escaped(line)));
                }
            }
            Notice::Progress { step, done, total } => self.progress(step, done, total),
            Notice::Warning(text) => self.screen.note(Style::Warn, "warning", text),
        }
    }
}

impl Narrator {
    /// Tells of runs of this graph.
    pub(crate) fn new(screen: Arc<Screen>, graph: &Graph) -> Self {
        let widths = graph.steps().iter().map(|step| step.id.as_str().len());
        let id_width = widths.max().unwrap_or(0).min(ID_WIDTH_MAX);
        let tenths = Mutex::default();
        Self { screen, graph: graph.clone(), id_width, clock: SystemClock::default(), tenths }
    }

    fn tell(&self, at: Timestamp, step: &str, what: &str) {
        let time = self.screen.palette().paint(Style::Dim, &time_of_day(at));
        self.screen.line(&format!("{time} {step:width$}  {what}", width = self.id_width));
    }

    fn record(&self, record: &Record) {
        let at = record.timestamp;
        match &record.event {
            Event::EpochOpened(header) => self.opened(at, record.epoch, header),
            Event::AttemptStarted(attempt) => {
                let what = match attempt.retry_count {
                    0 => "started".to_owned(),
                    before => format!("started, attempt {}", before + 1),
                };
                self.tell(at, attempt.step.as_str(), &what);
            }
            Event::AttemptEnded { attempt, duration_ms, end } => {
                self.ended(at, attempt, *duration_ms, end);
            }
            Event::Skipped { step, attempts: _, reason } => {
                let word = self.word(Status::Skipped, Status::Skipped.as_str());
                self.tell(at, step.as_str(), &format!("{word}: {}", first_line(reason)));
            }
            // The last line of the screen says it, and where the log is.
            Event::EpochClosed(_) => {}
        }
    }

    fn opened(&self, at: Timestamp, epoch: u32, header: &Header) {
        let what = match header.reason {
            OpenReason::Start => "begins".to_owned(),
            OpenReason::Resume => format!("goes on (epoch {epoch})"),
            OpenReason::ResumeFrom => format!("goes on from a chosen step (epoch {epoch})"),
            OpenReason::Rerun => format!("goes on, with finished steps again (epoch {epoch})"),
        };
        let steps = count(header.steps.len(), "step");
        let (time, task_id) = (time_of_day(at), &header.task_id);
        let time = self.screen.palette().paint(Style::Dim, &time);
        let parallel = header.max_parallel;
        self.screen.line(&format!("{time} {task_id} {what}: {steps}, at most {parallel} at once"));
    }

    fn ended(&self, at: Timestamp, attempt: &Attempt, duration_ms: Option<u64>, end: &End) {
        let step = attempt.step.as_str();
        let took = duration_ms.map(|ms| format!(" in {}", duration(Duration::from_millis(ms))));
        let took = took.unwrap_or_default();
        let error = match end {
            End::Success { output_digest: _, artifacts } => {
                let word = self.word(Status::Success, Status::Success.as_str());
                self.tell(at, step, &format!("{word}{took}{}", left(artifacts)));
                return;
            }
            End::Failed { error, reason } => {
                let word = match reason {
                    Some(FailReason::Stopped) => "stopped",
                    Some(FailReason::Interrupted) => "interrupted",
                    Some(FailReason::Interruptions) | None => Status::Failed.as_str(),
                };
                let word = self.word(Status::Failed, word);
                let optional = if self.is_optional(step) { " (optional)" } else { "" };
                let told = error.strip_prefix("interrupted: ").unwrap_or(error);
                self.tell(at, step, &format!("{word}{optional}{took}: {}", first_line(told)));
                error
            }
            End::Retrying { error, retry_at: _, delay_ms } => {
                let wait = duration(Duration::from_millis(*delay_ms));
                let word = self.screen.palette().paint(Style::Warn, "failed");
                let first = first_line(error);
                self.tell(at, step, &format!("{word}{took}, next attempt in {wait}: {first}"));
                error
            }
        };
        for line in error.lines().skip(1).take(ERROR_LINES_MAX) {
            self.screen.line(&format!("{:indent$}{}", "", escaped(line), indent = 10));
        }
    }

    fn progress(&self, step: &str, done: u64, total: u64) {
        let tenth = done.saturating_mul(10).checked_div(total).unwrap_or(0);
        let mut tenths = self.tenths.lock().unwrap_or_else(PoisonError::into_inner);
        if tenths.insert(step.to_owned(), tenth) != Some(tenth) {
            drop(tenths);
            self.tell(self.clock.now(), step, &format!("| {done} of {total}"));
        }
    }

    fn word(&self, status: Status, word: &str) -> String {
        self.screen.palette().paint(status_style(status), word)
    }

    fn is_optional(&self, step: &str) -> bool {
        let step = self.graph.index_of(step).map(|index| self.graph.step(index));
        step.is_some_and(|step| step.need == Need::Optional)
    }
}

/// What a step left, in brackets.
fn left(artifacts: &BTreeMap<String, ArtifactEntry>) -> String {
    let each = artifacts.iter().map(|(name, entry)| format!("{name} {}", bytes(entry.bytes)));
    match each.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        all => format!(" ({})", all.join(", ")),
    }
}
