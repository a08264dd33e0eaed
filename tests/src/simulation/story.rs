//! [`Story`]: what a log says, read line by line as any other program would read it, and folded by
//! rules of its own.
//!
//! It is not Apollo's reader: nothing of that is used here, so that what one gets wrong the other
//! one shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

/// One line of a log.
#[derive(Debug, Clone, Deserialize)]
pub struct Line {
    /// When it was made.
    pub timestamp: String,
    /// The step; none on a summary.
    pub step_id: Option<String>,
    /// `STEP_START`, `STEP_END` or `TASK_SUMMARY`.
    pub event_type: String,
    /// The state after it.
    pub status: String,
    /// The number of the attempt.
    pub retry_count: u32,
    /// The digest of what the step returned.
    pub output_digest: Option<String>,
    /// The number of the line, from 0.
    pub seq: u64,
    /// The epoch, from 0.
    pub epoch: u32,
    /// How many lines were known to be synced.
    pub durable: u64,
    /// The rest.
    pub detail: Option<Value>,
    /// The checksum of the line before.
    pub prev: String,
    /// The checksum of this one.
    pub crc: String,
}

/// What the lines say of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fate {
    /// Its state.
    pub status: String,
    /// How many attempts were started.
    pub attempts: u32,
    /// Whether an attempt is open.
    pub open: bool,
    /// How often its success stands in the log.
    pub successes: u32,
    /// How often a header named it to run again.
    pub reruns: u32,
    /// Whether it failed, and not because it was stopped or its process died.
    pub failed_for_good: bool,
    /// What it depends on.
    pub depends_on: Vec<String>,
    /// Whether the task can succeed without it.
    pub optional: bool,
    /// The digest of what it returned.
    pub output: Option<String>,
    /// The files that it left, by name: their digests.
    pub artifacts: BTreeMap<String, String>,
}

/// A log as far as its lines can be read, and what they add up to.
#[derive(Debug, Clone, Default)]
pub struct Story {
    /// The bytes that were read, all of whole lines.
    bytes: Vec<u8>,
    /// Where each line ends, behind its newline; indexed like `lines`.
    ends: Vec<usize>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Each step of the newest header, and what became of it.
    pub steps: BTreeMap<String, Fate>,
    /// Whether the newest epoch is closed, and how.
    pub closed: Option<String>,
    /// The epoch.
    pub epoch: u32,
    /// The first rule that a line breaks.
    pub broken: Option<String>,
}

impl Story {
    /// Reads a log.
    pub fn of(bytes: &[u8]) -> Self {
        let mut story = Self::default();
        story.read_on(bytes);
        story
    }

    /// Reads a log again that was read before, as far as it goes on; from its start when it is
    /// another one. What follows the last whole line is left alone.
    pub fn read_on(&mut self, bytes: &[u8]) {
        if !bytes.starts_with(&self.bytes) {
            *self = Self::default();
        }
        let mut at = self.bytes.len();
        while let Some(len) = bytes[at..].iter().position(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<Line>(&bytes[at..at + len]) else { break };
            if let Err(rule) = self.take(&line) {
                self.broken.get_or_insert(format!("line {}: {rule}", self.lines.len() + 1));
            }
            at += len + 1;
            self.lines.push(line);
            self.ends.push(at);
        }
        let known = self.bytes.len();
        self.bytes.extend_from_slice(&bytes[known..at]);
    }

    /// The bytes of the lines.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of the lines up to the one with this number, and with it.
    pub fn bytes_to(&self, seq: u64) -> Option<&[u8]> {
        let end = self.ends.get(usize::try_from(seq).ok()?)?;
        self.bytes.get(..*end)
    }

    /// The first line whose checksum is not that of its bytes, from 1.
    pub fn wrong_crc(&self) -> Option<usize> {
        let mut lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        let wrong = lines.position(|line| !crc_is_right(&line[..line.len() - 1]));
        wrong.map(|index| index + 1)
    }

    /// Where each line ends, up to the first one that is no record that follows the one before.
    pub fn good_lines(&self) -> Vec<usize> {
        let (mut from, mut prev) = (0, "00000000");
        let mut good = Vec::new();
        for ((&end, line), seq) in self.ends.iter().zip(&self.lines).zip(0..) {
            let follows = line.seq == seq && line.prev == prev;
            if !follows || !crc_is_right(&self.bytes[from..end - 1]) {
                break;
            }
            (from, prev) = (end, &line.crc);
            good.push(end);
        }
        good
    }

    /// How many attempts are open.
    pub fn open_attempts(&self) -> usize {
        self.steps.values().filter(|fate| fate.open).count()
    }

    /// The steps that were skipped.
    pub fn skipped(&self) -> BTreeSet<String> {
        let skipped = self.steps.iter().filter(|(_, fate)| fate.status == "SKIPPED");
        skipped.map(|(id, _)| id.clone()).collect()
    }

    /// The lines of a step, the last one first.
    pub fn back_from<'a>(&'a self, step: &'a str) -> impl Iterator<Item = &'a Line> {
        self.lines.iter().rev().filter(move |line| line.step_id.as_deref() == Some(step))
    }

    /// The newest header.
    pub fn header(&self) -> Option<&Line> {
        self.lines.iter().rev().find(|line| line.is_header())
    }

    /// Takes the next line into the fold.
    fn take(&mut self, line: &Line) -> Result<(), String> {
        let (seq, before) = (self.lines.len() as u64, self.lines.last());
        let prev = before.map_or("00000000", |before| &before.crc);
        let durable = before.map_or(0, |before| before.durable);
        if line.seq != seq || line.prev != prev {
            return Err(format!("its seq or prev does not follow: {line:?}"));
        }
        if line.durable < durable || line.durable > seq {
            return Err(format!("durable {} after {durable}", line.durable));
        }
        match (line.event_type.as_str(), line.status.as_str(), &line.step_id) {
            ("TASK_SUMMARY", "RUNNING", None) => self.open(line),
            ("TASK_SUMMARY", "SUCCESS" | "FAILED", None) => self.close(line),
            ("STEP_START", "RUNNING", Some(step)) => self.start(step, line),
            ("STEP_END", _, Some(step)) => self.end(step, line),
            _ => Err(format!("no such line: {line:?}")),
        }
    }

    fn open(&mut self, line: &Line) -> Result<(), String> {
        let expected = if self.lines.is_empty() { 0 } else { self.epoch + 1 };
        if line.epoch != expected {
            return Err(format!("epoch {} opens, {expected} is next", line.epoch));
        }
        if let Some((id, _)) = self.steps.iter().find(|(_, fate)| fate.open) {
            return Err(format!("an epoch opens while `{id}` is open"));
        }
        let listed = |member: &str| {
            let found = line.detail.as_ref().and_then(|detail| detail[member].as_array());
            found.cloned().unwrap_or_default()
        };
        for step in listed("steps") {
            let id = step["id"].as_str().unwrap_or_default().to_owned();
            let fate = self.steps.entry(id).or_default();
            let depends_on = step["depends_on"].as_array().into_iter().flatten();
            fate.depends_on = depends_on.filter_map(|on| Some(on.as_str()?.to_owned())).collect();
            fate.optional = step["optional"] == true;
            if !["SUCCESS", "SKIPPED"].contains(&fate.status.as_str()) {
                "PENDING".clone_into(&mut fate.status);
            }
        }
        for id in listed("rerun") {
            let fate = self.steps.entry(id.as_str().unwrap_or_default().to_owned()).or_default();
            "PENDING".clone_into(&mut fate.status);
            fate.reruns += 1;
        }
        self.epoch = line.epoch;
        self.closed = None;
        Ok(())
    }

    fn close(&mut self, line: &Line) -> Result<(), String> {
        self.check_epoch(line)?;
        if let Some((id, _)) = self.steps.iter().find(|(_, fate)| fate.open) {
            return Err(format!("the epoch closes while `{id}` is open"));
        }
        self.closed = Some(line.status.clone());
        Ok(())
    }

    fn start(&mut self, step: &str, line: &Line) -> Result<(), String> {
        self.check_epoch(line)?;
        let fate = self.fate(step)?;
        if fate.open || !["PENDING", "RUNNING"].contains(&fate.status.as_str()) {
            return Err(format!("`{step}` starts although it is {}", fate.status));
        }
        if line.retry_count != fate.attempts {
            return Err(format!("`{step}`: attempt {} is next: {line:?}", fate.attempts));
        }
        fate.attempts += 1;
        fate.open = true;
        "RUNNING".clone_into(&mut fate.status);
        Ok(())
    }

    fn end(&mut self, step: &str, line: &Line) -> Result<(), String> {
        let reason = line.detail.as_ref().and_then(|detail| detail["reason"].as_str());
        if reason != Some("interrupted") {
            self.check_epoch(line)?;
        }
        let fate = self.fate(step)?;
        fate.status.clone_from(&line.status);
        if line.status == "SKIPPED" {
            return Ok(());
        }
        if !fate.open || line.retry_count + 1 != fate.attempts {
            return Err(format!("`{step}` ends an attempt that is not open: {line:?}"));
        }
        fate.open = false;
        let stopped = matches!(reason, Some("stopped" | "interrupted"));
        fate.failed_for_good = line.status == "FAILED" && !stopped;
        if line.status == "SUCCESS" {
            fate.successes += 1;
            fate.output.clone_from(&line.output_digest);
            let named = line.detail.as_ref().and_then(|detail| detail["artifacts"].as_object());
            let digest = |(name, entry): (&String, &Value)| {
                (name.clone(), entry["digest"].as_str().unwrap_or_default().to_owned())
            };
            fate.artifacts = named.into_iter().flatten().map(digest).collect();
        }
        Ok(())
    }

    fn fate(&mut self, step: &str) -> Result<&mut Fate, String> {
        self.steps.get_mut(step).ok_or_else(|| format!("the header does not list `{step}`"))
    }

    fn check_epoch(&self, line: &Line) -> Result<(), String> {
        if line.epoch != self.epoch || self.closed.is_some() || self.lines.is_empty() {
            let (closed, epoch) = (&self.closed, self.epoch);
            return Err(format!("it says epoch {}, {epoch} is open: {closed:?}", line.epoch));
        }
        Ok(())
    }
}

impl Line {
    /// Whether it opens an epoch.
    pub fn is_header(&self) -> bool {
        self.step_id.is_none() && self.status == "RUNNING"
    }

    /// Whether it begins an attempt.
    pub fn is_start(&self) -> bool {
        self.event_type == "STEP_START"
    }

    /// Whether it ends an attempt that will be repeated.
    pub fn is_retry(&self) -> bool {
        self.event_type == "STEP_END" && self.status == "RUNNING"
    }
}

impl Fate {
    /// Whether it was a success, and stays one.
    pub fn is_success(&self) -> bool {
        self.status == "SUCCESS"
    }

    /// Whether nobody waits for it any longer.
    pub fn is_over(&self) -> bool {
        match self.status.as_str() {
            "SUCCESS" | "SKIPPED" => true,
            "FAILED" => self.optional && self.failed_for_good,
            _ => false,
        }
    }
}

/// Whether a line, without its newline, ends in the checksum of the bytes before it.
pub fn crc_is_right(line: &[u8]) -> bool {
    let Some(body) = line.len().checked_sub(r#","crc":"00000000"}"#.len()) else { return false };
    let end = format!(",\"crc\":\"{:08x}\"}}", crc32(&line[..body]));
    line[body..] == *end.as_bytes()
}

/// CRC-32 (IEEE), by the table of its polynomial.
fn crc32(bytes: &[u8]) -> u32 {
    static TABLE: std::sync::OnceLock<[u32; 256]> = std::sync::OnceLock::new();
    let table = TABLE.get_or_init(|| {
        std::array::from_fn(|index| {
            (0..8).fold(index as u32, |crc, _| {
                if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 }
            })
        })
    });
    !bytes
        .iter()
        .fold(!0, |crc, byte| table[((crc ^ u32::from(*byte)) & 255) as usize] ^ (crc >> 8))
}
