//! The wire form of a record: the keys of a line in their order, and `detail`.
//!
//! It is not the meaning: a line whose fields contradict each other ends here.
//!
//! **Invariant:** the crc is compared as text over the bytes as they stand, before anything is
//! parsed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::{
    ArtifactEntry, Attempt, Closing, Crc, End, Event, FailReason, Header, LINE_BYTES_MAX, Line,
    Record, RecordError, SCHEMA, Spill, plain,
};
use crate::digest::Digest;
use crate::id::StepId;
use crate::state::Status;
use crate::time::Timestamp;

const CRC_KEY: &[u8] = b",\"crc\":\"";

/// Gives the content of a file that holds a member of `detail`.
pub(crate) type LoadSpill<'a> = &'a dyn Fn(&str) -> std::io::Result<Vec<u8>>;

/// The `detail` of a step's record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct StepDetail {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    artifacts: BTreeMap<String, ArtifactEntry>,
}

/// The `detail` of a closing record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SummaryDetail {
    steps: Option<BTreeMap<StepId, Status>>,
    counts: BTreeMap<Status, u32>,
    degraded: Vec<StepId>,
    duration_ms: u64,
}

/// Where a spilled member is, as the line says it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SpillRef {
    name: String,
    digest: Digest,
}

/// The word for what kind of record a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum EventType {
    StepStart,
    StepEnd,
    TaskSummary,
}

/// A line without its crc; the order of the fields is the order of the keys.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    timestamp: Timestamp,
    #[serde(borrow, deserialize_with = "present")]
    step_id: Option<Cow<'a, str>>,
    event_type: EventType,
    status: Status,
    retry_count: u32,
    #[serde(deserialize_with = "present")]
    input_digest: Option<Digest>,
    #[serde(deserialize_with = "present")]
    output_digest: Option<Digest>,
    #[serde(borrow, deserialize_with = "present")]
    error_message: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "present")]
    duration_ms: Option<u64>,
    seq: u64,
    epoch: u32,
    durable: u64,
    #[serde(borrow, deserialize_with = "present")]
    detail: Option<Cow<'a, RawValue>>,
    prev: Cow<'a, str>,
    /// Judged before the line is parsed, and written after it.
    #[serde(rename = "crc", skip_serializing, default)]
    _crc: serde::de::IgnoredAny,
}

/// The members that bind a line to its log, read without understanding the rest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Envelope {
    /// The record's number in the file, from 0.
    pub seq: u64,
    /// How many leading records were known to be synced when it was made.
    pub durable: u64,
}

impl Envelope {
    /// Reads a line, given without its newline, that is valid in itself.
    ///
    /// # Errors
    /// [`RecordError`] with what is wrong; the crc is judged before anything else.
    pub(crate) fn decode(line: &[u8]) -> Result<(Self, Crc), RecordError> {
        let (_body, crc) = checked(line)?;
        Ok((parse(line)?, crc))
    }
}

/// A key that must be there even where its value is `null`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    T::deserialize(from)
}

impl Record {
    /// Writes the record as a line of the log called `log_name`.
    ///
    /// # Errors
    /// [`RecordError::TooLong`] when even without the members that can be spilled the line is too
    /// long; [`RecordError::Json`] when a part of it can't be written as JSON.
    pub fn encode(&self, log_name: &str) -> Result<Line, RecordError> {
        let mut wire = self.to_wire()?;
        let mut spills = Vec::new();
        let mut bytes = finish(&wire)?;
        if bytes.len() > LINE_BYTES_MAX {
            let fixed = bytes.len() - wire.detail.as_ref().map_or(0, |raw| raw.get().len());
            let room = LINE_BYTES_MAX.saturating_sub(fixed);
            let detail = wire.detail.take().map(Cow::into_owned);
            let drop_steps = matches!(self.event, Event::EpochClosed(_));
            let name = format!("{log_name}.{}", self.seq);
            let small = shrink(detail, room, drop_steps, &name, &mut spills)?;
            wire.detail = Some(Cow::Owned(raw(&small)?));
            bytes = finish(&wire)?;
        }
        if bytes.len() > LINE_BYTES_MAX {
            return Err(RecordError::TooLong { bytes: bytes.len() });
        }
        let crc = Crc::of(&bytes);
        bytes.extend_from_slice(CRC_KEY);
        bytes.extend_from_slice(format!("{crc}\"}}\n").as_bytes());
        Ok(Line { bytes, crc, spills })
    }

    /// Reads a line, given without its newline.
    ///
    /// # Errors
    /// [`RecordError`] with what is wrong; the crc is judged before anything else.
    pub fn decode(line: &[u8], load: LoadSpill<'_>) -> Result<(Self, Crc), RecordError> {
        let (body, crc) = checked(line)?;
        let record = plain::read(body).map_or_else(|| Self::from_json(line, load), Ok)?;
        Ok((record, crc))
    }

    /// Reads a line as JSON, even a plain one: what [`Self::decode`] has to agree with.
    ///
    /// # Errors
    /// As [`Self::decode`].
    #[cfg(any(test, feature = "testing"))]
    pub fn decode_as_json(line: &[u8], load: LoadSpill<'_>) -> Result<(Self, Crc), RecordError> {
        let (_body, crc) = checked(line)?;
        Ok((Self::from_json(line, load)?, crc))
    }

    fn from_json(line: &[u8], load: LoadSpill<'_>) -> Result<Self, RecordError> {
        let wire: Wire<'_> = parse(line)?;
        Ok(Self {
            timestamp: wire.timestamp,
            seq: wire.seq,
            epoch: wire.epoch,
            durable: wire.durable,
            prev: Crc::parse(&wire.prev).ok_or_else(|| meaning("prev is no crc"))?,
            event: to_event(wire, load)?,
        })
    }

    fn to_wire(&self) -> Result<Wire<'_>, RecordError> {
        let mut wire = Wire {
            timestamp: self.timestamp,
            step_id: self.event.step().map(|step| step.as_str().into()),
            event_type: EventType::TaskSummary,
            status: self.event.status(),
            retry_count: 0,
            input_digest: None,
            output_digest: None,
            error_message: None,
            duration_ms: None,
            seq: self.seq,
            epoch: self.epoch,
            durable: self.durable,
            detail: None,
            prev: self.prev.to_string().into(),
            _crc: serde::de::IgnoredAny,
        };
        match &self.event {
            Event::EpochOpened(header) => wire.detail = Some(Cow::Owned(raw(header)?)),
            Event::EpochClosed(summary) => {
                wire.duration_ms = Some(summary.duration_ms);
                wire.detail = Some(Cow::Owned(raw(&SummaryDetail {
                    steps: summary.steps.clone(),
                    counts: summary.counts.clone(),
                    degraded: summary.degraded.clone(),
                    duration_ms: summary.duration_ms,
                })?));
            }
            Event::AttemptStarted(attempt) => {
                wire.event_type = EventType::StepStart;
                wire.set_attempt(attempt);
            }
            Event::AttemptEnded { attempt, duration_ms, end } => {
                wire.event_type = EventType::StepEnd;
                wire.set_attempt(attempt);
                wire.duration_ms = *duration_ms;
                wire.set_end(end)?;
            }
            Event::Skipped { step: _, attempts, reason } => {
                wire.event_type = EventType::StepEnd;
                wire.retry_count = *attempts;
                wire.set_detail(&StepDetail { reason: Some(reason.clone()), ..<_>::default() })?;
            }
        }
        Ok(wire)
    }
}

impl<'a> Wire<'a> {
    const fn set_attempt(&mut self, attempt: &Attempt) {
        self.retry_count = attempt.retry_count;
        self.input_digest = Some(attempt.input_digest);
    }

    fn set_end(&mut self, end: &'a End) -> Result<(), RecordError> {
        let mut detail = StepDetail::default();
        match end {
            End::Success { output_digest, artifacts } => {
                self.output_digest = Some(*output_digest);
                detail.artifacts.clone_from(artifacts);
            }
            End::Failed { error, reason } => {
                self.error_message = Some(error.as_str().into());
                detail.reason = reason.map(|reason| reason.as_str().to_owned());
            }
            End::Retrying { error, retry_at, delay_ms } => {
                self.error_message = Some(error.as_str().into());
                detail.retry_at = Some(*retry_at);
                detail.delay_ms = Some(*delay_ms);
            }
        }
        self.set_detail(&detail)
    }

    fn set_detail(&mut self, detail: &StepDetail) -> Result<(), RecordError> {
        if *detail != StepDetail::default() {
            self.detail = Some(Cow::Owned(raw(detail)?));
        }
        Ok(())
    }
}

fn to_event(wire: Wire<'_>, load: LoadSpill<'_>) -> Result<Event, RecordError> {
    let step = wire.step_id.as_deref().map(StepId::parse).transpose();
    let step = step.map_err(|error| meaning(&error.to_string()))?;
    match (wire.event_type, step) {
        (EventType::TaskSummary, None) => summary_event(&wire, load),
        (EventType::StepStart, Some(step)) if wire.status == Status::Running => {
            Ok(Event::AttemptStarted(attempt(&wire, step)?))
        }
        (EventType::StepEnd, Some(step)) => end_event(wire, step, load),
        (EventType::StepStart, Some(_)) => Err(meaning("a STEP_START that is not RUNNING")),
        (EventType::TaskSummary, Some(_)) => Err(meaning("a TASK_SUMMARY with a step_id")),
        (EventType::StepStart | EventType::StepEnd, None) => Err(meaning("step_id is null")),
    }
}

fn summary_event(wire: &Wire<'_>, load: LoadSpill<'_>) -> Result<Event, RecordError> {
    let detail = wire.detail.as_deref().ok_or_else(|| meaning("a TASK_SUMMARY without detail"))?;
    match wire.status {
        Status::Running => {
            let seen: SchemaOnly = parse(detail.get().as_bytes())?;
            if seen.schema != SCHEMA {
                return Err(RecordError::Schema { schema: seen.schema });
            }
            Ok(Event::EpochOpened(Box::new(typed::<Header>(detail, load)?)))
        }
        Status::Success | Status::Failed => {
            let detail: SummaryDetail = typed(detail, load)?;
            Ok(Event::EpochClosed(Box::new(Closing {
                success: wire.status == Status::Success,
                steps: detail.steps,
                counts: detail.counts,
                degraded: detail.degraded,
                duration_ms: detail.duration_ms,
            })))
        }
        Status::Pending | Status::Skipped => Err(meaning("a TASK_SUMMARY PENDING or SKIPPED")),
    }
}

/// The one member that is read before the rest is believed.
#[derive(Deserialize)]
struct SchemaOnly {
    schema: u32,
}

fn end_event(wire: Wire<'_>, step: StepId, load: LoadSpill<'_>) -> Result<Event, RecordError> {
    let detail = match wire.detail.as_deref() {
        Some(detail) => typed::<StepDetail>(detail, load)?,
        None => StepDetail::default(),
    };
    if wire.status == Status::Skipped {
        let reason = detail.reason.ok_or_else(|| meaning("SKIPPED without detail.reason"))?;
        return Ok(Event::Skipped { step, attempts: wire.retry_count, reason });
    }
    let attempt = attempt(&wire, step)?;
    let no_error = || meaning("a failed attempt without error_message");
    let end = match wire.status {
        Status::Success => End::Success {
            output_digest: wire.output_digest.ok_or_else(|| meaning("SUCCESS without output"))?,
            artifacts: detail.artifacts,
        },
        Status::Failed => End::Failed {
            error: wire.error_message.ok_or_else(no_error)?.into_owned(),
            reason: detail.reason.as_deref().and_then(FailReason::parse),
        },
        Status::Running => End::Retrying {
            error: wire.error_message.ok_or_else(no_error)?.into_owned(),
            retry_at: detail.retry_at.ok_or_else(|| meaning("detail.retry_at is missing"))?,
            delay_ms: detail.delay_ms.unwrap_or(0),
        },
        Status::Pending | Status::Skipped => return Err(meaning("a STEP_END PENDING")),
    };
    Ok(Event::AttemptEnded { attempt, duration_ms: wire.duration_ms, end })
}

fn attempt(wire: &Wire<'_>, step: StepId) -> Result<Attempt, RecordError> {
    let input_digest = wire.input_digest.ok_or_else(|| meaning("input_digest is null"))?;
    Ok(Attempt { step, retry_count: wire.retry_count, input_digest })
}

/// The bytes of a line up to its crc.
fn finish(wire: &Wire<'_>) -> Result<Vec<u8>, RecordError> {
    let mut bytes = serde_json::to_vec(wire).map_err(json)?;
    let closed = bytes.pop();
    debug_assert_eq!(closed, Some(b'}'), "a wire record is an object");
    Ok(bytes)
}

/// A line up to its crc, and the crc, which is that of these bytes.
fn checked(line: &[u8]) -> Result<(&[u8], Crc), RecordError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(RecordError::TooLong { bytes: line.len() });
    }
    let (body, stored) = line
        .strip_suffix(b"\"}")
        .and_then(|rest| rest.split_at_checked(rest.len().checked_sub(8)?))
        .and_then(|(rest, stored)| Some((rest.strip_suffix(CRC_KEY)?, stored)))
        .ok_or(RecordError::NoCrc)?;
    let computed = Crc::of(body);
    if stored.try_into().ok().and_then(Crc::of_hex) != Some(computed) {
        let stored = String::from_utf8_lossy(stored).escape_debug().to_string();
        return Err(RecordError::Crc { stored, computed });
    }
    Ok((body, computed))
}

/// Makes a `detail` fit into `room` bytes: its largest members go to files.
fn shrink(
    detail: Option<Box<RawValue>>,
    room: usize,
    drop_steps: bool,
    name: &str,
    spills: &mut Vec<Spill>,
) -> Result<Map<String, Value>, RecordError> {
    let text = detail.as_ref().map_or("{}", |raw| raw.get());
    let mut map: Map<String, Value> = parse(text.as_bytes())?;
    if let Some(steps) = map.get_mut("steps").filter(|_| drop_steps) {
        *steps = Value::Null;
    }
    let mut moved: BTreeMap<String, SpillRef> = BTreeMap::new();
    loop {
        map.insert("spill".to_owned(), serde_json::to_value(&moved).map_err(json)?);
        if serde_json::to_vec(&map).map_err(json)?.len() <= room {
            break;
        }
        let largest = map
            .iter()
            .filter(|(key, _)| *key != "spill")
            .map(|(key, value)| (value.to_string(), key.clone()))
            .max_by_key(|(text, _)| text.len())
            .filter(|(text, _)| text.len() > "null".len());
        let Some((text, member)) = largest else { break };
        let spill = Spill { name: format!("{name}.{member}.json"), bytes: text.into_bytes() };
        let digest = Digest::of(&spill.bytes);
        moved.insert(member.clone(), SpillRef { name: spill.name.clone(), digest });
        map.insert(member, Value::Null);
        spills.push(spill);
    }
    if moved.is_empty() {
        map.remove("spill");
    }
    Ok(map)
}

/// A `detail` as its type, with the members that were spilled put back.
fn typed<T: DeserializeOwned>(detail: &RawValue, load: LoadSpill<'_>) -> Result<T, RecordError> {
    let spilled: SpillOnly = parse(detail.get().as_bytes())?;
    let Some(spilled) = spilled.spill else { return parse(detail.get().as_bytes()) };
    let mut map: Map<String, Value> = parse(detail.get().as_bytes())?;
    for (member, SpillRef { name, digest }) in spilled {
        let refused = |message: String| RecordError::Spill { name: name.clone(), message };
        let bytes = load(&name).map_err(|error| refused(error.to_string()))?;
        if Digest::of(&bytes) != digest {
            return Err(refused(format!("its digest is not {digest}")));
        }
        map.insert(member, parse(&bytes)?);
    }
    T::deserialize(Value::Object(map)).map_err(json)
}

/// The one member that says where others are.
#[derive(Deserialize)]
struct SpillOnly {
    #[serde(default)]
    spill: Option<BTreeMap<String, SpillRef>>,
}

fn raw<T: Serialize>(value: &T) -> Result<Box<RawValue>, RecordError> {
    to_raw_value(value).map_err(json)
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, RecordError> {
    serde_json::from_slice(bytes).map_err(json)
}

const fn json(source: serde_json::Error) -> RecordError {
    RecordError::Json { source }
}

fn meaning(message: &str) -> RecordError {
    RecordError::Meaning { message: message.to_owned() }
}
