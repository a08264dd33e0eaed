//! [`Record`]: one line of the log, what it says ([`Event`]) and how it is written (schema 1).
//!
//! It is not the file: `log` appends lines and finds the torn ones.
//!
//! **Invariant:** an [`Event`] can only say what the contract allows; the wire form with its
//! nullable fields exists in `wire` alone. Encoding is a function of the record: the same record
//! gives the same bytes.

mod plain;
mod wire;

use std::collections::BTreeMap;
use std::fmt;

use crate::digest::{self, Digest};
use crate::id::{StepId, TaskId, TaskName};
use crate::policy::RetryPolicy;
use crate::state::Status;
use crate::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use wire::Envelope;

/// The version of the log's form that this build writes and reads.
pub const SCHEMA: u32 = 1;

/// The longest line, in bytes, without its newline.
pub(crate) const LINE_BYTES_MAX: usize = 65_535;

/// The longest `error_message`, in bytes of UTF-8.
pub(crate) const ERROR_BYTES_MAX: usize = 8 * 1024;

/// The checksum of a line: CRC-32 (IEEE), written as 8 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Crc(u32);

/// One line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When it was made.
    pub timestamp: Timestamp,
    /// The record's number in the file, from 0.
    pub seq: u64,
    /// The epoch it belongs to, from 0.
    pub epoch: u32,
    /// How many leading records were known to be synced when it was made.
    pub durable: u64,
    /// The checksum of the line before.
    pub prev: Crc,
    /// What happened.
    pub event: Event,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// TASK_SUMMARY RUNNING: a process begins to work on the run.
    EpochOpened(Box<Header>),
    /// TASK_SUMMARY SUCCESS or FAILED: it ends.
    EpochClosed(Box<Closing>),
    /// STEP_START.
    AttemptStarted(Attempt),
    /// STEP_END SUCCESS, FAILED or RUNNING.
    AttemptEnded {
        /// The attempt that ended.
        attempt: Attempt,
        /// How long it took, in milliseconds; unknown after an interruption.
        duration_ms: Option<u64>,
        /// How it ended.
        end: End,
    },
    /// STEP_END SKIPPED.
    Skipped {
        /// The step that is left out.
        step: StepId,
        /// Its attempts so far.
        attempts: u32,
        /// Who left it out.
        reason: String,
    },
}

/// The identity of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The step.
    pub step: StepId,
    /// The number of the attempt in the run, from 0.
    pub retry_count: u32,
    /// Covers everything the attempt was given.
    pub input_digest: Digest,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The body returned a value.
    Success {
        /// Covers the value.
        output_digest: Digest,
        /// The files that it left, by name.
        artifacts: BTreeMap<String, ArtifactEntry>,
    },
    /// The step has failed.
    Failed {
        /// What went wrong.
        error: String,
        /// Set when it was not the body that said so.
        reason: Option<FailReason>,
    },
    /// The attempt failed and another one follows.
    Retrying {
        /// What went wrong.
        error: String,
        /// When the next attempt is due, by the wall clock.
        retry_at: Timestamp,
        /// The whole wait, in milliseconds.
        delay_ms: u64,
    },
}

/// Why a step failed, where it was not its body that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    /// Stopped by a signal or a shutdown: not for good.
    Stopped,
    /// Its process died: not for good.
    Interrupted,
    /// Its process died too often: for good, until the next epoch.
    Interruptions,
}

/// A file that a step left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactEntry {
    /// Covers its bytes.
    pub digest: Digest,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Why an epoch was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenReason {
    /// The first epoch of a run.
    Start,
    /// The run was unfinished or FAILED.
    Resume,
    /// A person named the step to resume from.
    ResumeFrom,
    /// Finished steps are run again.
    Rerun,
}

/// The `detail` of the record that opens an epoch: what makes the log readable without the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of apollo that wrote it.
    pub apollo: String,
    /// The task.
    pub task: TaskName,
    /// The logical instance.
    pub task_id: TaskId,
    /// The frozen parameters; `None` for a secret one.
    pub params: BTreeMap<String, Option<String>>,
    /// Covers the graph.
    pub graph_digest: Digest,
    /// How many steps may run at once.
    pub max_parallel: u32,
    /// Why this epoch was opened.
    pub reason: OpenReason,
    /// The graph, in the order of declaration.
    pub steps: Vec<HeaderStep>,
    /// Steps that are run again although they were SUCCESS or SKIPPED.
    #[serde(default)]
    pub rerun: Vec<StepId>,
    /// The step that a person named to resume from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_from: Option<StepId>,
    /// New id to old id: the new one has the old one's state and attempts.
    #[serde(default)]
    pub renamed: BTreeMap<StepId, StepId>,
    /// What a person should know.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// The program image: its build id, else its SHA-256 where that is known.
    pub program: Option<String>,
}

/// A step in a [`Header`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeaderStep {
    /// Its id.
    pub id: StepId,
    /// The ids that it depends on.
    pub depends_on: Vec<StepId>,
    /// Whether the task can succeed without it.
    pub optional: bool,
    /// How it is retried.
    pub retry: RetryPolicy,
    /// The longest time an attempt may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Covers its definition.
    pub digest: Digest,
    /// Its author's version of its meaning.
    #[serde(default = "first_version")]
    pub version: u32,
}

/// The `detail` of the record that closes an epoch, and its status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    /// Whether the task is SUCCESS; FAILED otherwise.
    pub success: bool,
    /// Every step's state; `None` where it would not fit into the line.
    pub steps: Option<BTreeMap<StepId, Status>>,
    /// How many steps are in each state.
    pub counts: BTreeMap<Status, u32>,
    /// The optional steps that failed.
    pub degraded: Vec<StepId>,
    /// How long the epoch took, in milliseconds.
    pub duration_ms: u64,
}

/// A member of a `detail` that did not fit into its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    /// The file's name, beside the log.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A record as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line with its newline.
    pub bytes: Vec<u8>,
    /// Its checksum, which the next line repeats as `prev`.
    pub crc: Crc,
    /// Files that have to be durable before the line is written.
    pub spills: Vec<Spill>,
}

/// Why bytes are no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The line is longer than a line may be.
    #[error("the line has {bytes} bytes, at most {LINE_BYTES_MAX} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The line does not end in a checksum.
    #[error("the line does not end in a crc")]
    NoCrc,
    /// The checksum differs.
    #[error("the line says crc {stored}, its bytes give {computed}")]
    Crc {
        /// What stands in the line.
        stored: String,
        /// What its bytes give.
        computed: Crc,
    },
    /// The line is not the JSON of a record.
    #[error("the line is no record of schema {SCHEMA}")]
    Json {
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
    /// The fields contradict each other.
    #[error("the line is no record of schema {SCHEMA}: {message}")]
    Meaning {
        /// What contradicts.
        message: String,
    },
    /// The log was written by another version.
    #[error("the log has schema {schema}, this build knows {SCHEMA}; use the apollo that wrote it")]
    Schema {
        /// The schema that the header names.
        schema: u32,
    },
    /// A file that holds a member of `detail` can't be used.
    #[error("the file `{name}` that belongs to the line can't be used: {message}")]
    Spill {
        /// The file's name.
        name: String,
        /// Why not.
        message: String,
    },
}

impl Crc {
    /// The checksum of a line's bytes before its own `,"crc":"`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(crc32fast::hash(bytes))
    }

    /// Reads 8 lower-case hex digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_hex(text.as_bytes().try_into().ok()?)
    }

    fn of_hex(hex: &[u8; 8]) -> Option<Self> {
        digest::from_hex(hex).map(|bytes| Self(u32::from_be_bytes(bytes)))
    }
}

impl fmt::Display for Crc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl fmt::Debug for Crc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Crc {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Crc {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("no crc"))
    }
}

impl FailReason {
    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Interruptions => "interruptions",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Stopped, Self::Interrupted, Self::Interruptions]
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }
}

impl Event {
    /// The step that the event is about.
    #[must_use]
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Self::EpochOpened(_) | Self::EpochClosed(_) => None,
            Self::AttemptStarted(attempt) | Self::AttemptEnded { attempt, .. } => {
                Some(&attempt.step)
            }
            Self::Skipped { step, .. } => Some(step),
        }
    }

    /// The state that the step, or the task, has after it.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::EpochOpened(_) | Self::AttemptStarted(_) => Status::Running,
            Self::EpochClosed(closing) => {
                if closing.success {
                    Status::Success
                } else {
                    Status::Failed
                }
            }
            Self::AttemptEnded { end, .. } => match end {
                End::Success { .. } => Status::Success,
                End::Failed { .. } => Status::Failed,
                End::Retrying { .. } => Status::Running,
            },
            Self::Skipped { .. } => Status::Skipped,
        }
    }
}

/// Cuts a message to what a record holds, with a mark; the rest of it is lost.
#[must_use]
pub(crate) fn cut_message(message: &str) -> String {
    const MARK: &str = " ... [cut]";
    if message.is_empty() {
        return "the step failed without a message".to_owned();
    }
    if message.len() <= ERROR_BYTES_MAX {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(ERROR_BYTES_MAX - MARK.len());
    let (kept, _lost) = message.split_at(end);
    format!("{kept}{MARK}")
}

const fn first_version() -> u32 {
    1
}

#[cfg(test)]
mod tests;
