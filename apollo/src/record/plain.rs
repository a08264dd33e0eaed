//! Plain lines: the starts and the ends of attempts, which are nearly all of a log, read byte by
//! byte in the order in which they are written.
//!
//! It is not the judge of a line: it refuses none, and leaves the ones that are not plain to `wire`.
//!
//! **Invariant:** a line is taken only if it is, byte for byte, what [`Record::encode`] writes for
//! the record that is read from it. So `wire` reads the same record from it.

use std::collections::BTreeMap;

use super::{ArtifactEntry, Attempt, Crc, End, Event, FailReason, Record};
use crate::digest::Digest;
use crate::id::StepId;
use crate::state::Status;
use crate::time::Timestamp;

/// Reads a plain line, given up to its `,"crc":"`; `None` where it is not plain.
pub(super) fn read(line: &[u8]) -> Option<Record> {
    let mut rest = Rest(line);
    rest.skip(br#"{"timestamp":"#)?;
    let timestamp = rest.timestamp()?;
    rest.skip(br#","step_id":"#)?;
    let step = StepId::parse(rest.text()?).ok()?;
    rest.skip(br#","event_type":"STEP_"#)?;
    let starts = rest.skip(br#"START","status":"#).is_some();
    if !starts {
        rest.skip(br#"END","status":"#)?;
    }
    let status = rest.status()?;
    rest.skip(br#","retry_count":"#)?;
    let retry_count = u32::try_from(rest.number()?).ok()?;
    rest.skip(br#","input_digest":"#)?;
    let input_digest = rest.digest()?;
    rest.skip(br#","output_digest":"#)?;
    let output_digest = rest.unless_null(Rest::digest)?;
    rest.skip(br#","error_message":"#)?;
    let error = rest.unless_null(Rest::text)?;
    rest.skip(br#","duration_ms":"#)?;
    let duration_ms = rest.unless_null(Rest::number)?;
    rest.skip(br#","seq":"#)?;
    let seq = rest.number()?;
    rest.skip(br#","epoch":"#)?;
    let epoch = u32::try_from(rest.number()?).ok()?;
    rest.skip(br#","durable":"#)?;
    let durable = rest.number()?;
    rest.skip(br#","detail":"#)?;
    let attempt = Attempt { step, retry_count, input_digest };
    let event = match (starts, status, output_digest, error) {
        (true, Status::Running, None, None) if duration_ms.is_none() => {
            rest.skip(NULL)?;
            Event::AttemptStarted(attempt)
        }
        (false, Status::Success, Some(output_digest), None) => {
            let end = End::Success { output_digest, artifacts: rest.artifacts()? };
            Event::AttemptEnded { attempt, duration_ms, end }
        }
        (false, Status::Failed, None, Some(error)) => {
            let end = End::Failed { error: error.to_owned(), reason: rest.reason()? };
            Event::AttemptEnded { attempt, duration_ms, end }
        }
        (false, Status::Running, None, Some(error)) => {
            let (retry_at, delay_ms) = rest.wait()?;
            let end = End::Retrying { error: error.to_owned(), retry_at, delay_ms };
            Event::AttemptEnded { attempt, duration_ms, end }
        }
        _ => return None,
    };
    rest.skip(br#","prev":""#)?;
    let prev = Crc::of_hex(rest.take()?)?;
    let ends = rest.0 == br#"""#;
    ends.then_some(Record { timestamp, seq, epoch, durable, prev, event })
}

const NULL: &[u8; 4] = b"null";

/// What has not been read of a line.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// Takes so many bytes.
    #[inline]
    fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes bytes that have to come next; where they don't, nothing is taken.
    #[inline]
    fn skip<const N: usize>(&mut self, bytes: &[u8; N]) -> Option<()> {
        let (taken, rest) = self.0.split_first_chunk()?;
        (taken == bytes).then(|| self.0 = rest)
    }

    /// Takes a value, or `null`.
    #[inline]
    fn unless_null<T>(&mut self, value: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.skip(NULL).is_some() { Some(None) } else { value(self).map(Some) }
    }

    /// Takes a string in which nothing is escaped.
    #[inline]
    fn text(&mut self) -> Option<&'a str> {
        self.skip(b"\"")?;
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
        let (text, rest) = self.0.split_at_checked(self.0.iter().position(special)?)?;
        self.0 = rest;
        self.skip(b"\"")?;
        str::from_utf8(text).ok()
    }

    /// Takes the state that an attempt leaves its step in.
    #[inline]
    fn status(&mut self) -> Option<Status> {
        if self.skip(br#""RUNNING""#).is_some() {
            Some(Status::Running)
        } else if self.skip(br#""SUCCESS""#).is_some() {
            Some(Status::Success)
        } else {
            self.skip(br#""FAILED""#).map(|()| Status::Failed)
        }
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let len = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        if let [] | [b'0', _, ..] = digits {
            return None;
        }
        let next = |n: u64, digit: &u8| n.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
        digits.iter().try_fold(0, next)
    }

    #[inline]
    fn digest(&mut self) -> Option<Digest> {
        self.skip(b"\"sha256:")?;
        let digest = Digest::of_hex(self.take()?)?;
        self.skip(b"\"")?;
        Some(digest)
    }

    #[inline]
    fn timestamp(&mut self) -> Option<Timestamp> {
        self.skip(b"\"")?;
        let timestamp = Timestamp::of_form(self.take()?)?;
        self.skip(b"\"")?;
        Some(timestamp)
    }

    /// Takes the detail of a success: its artifacts, by ascending name.
    fn artifacts(&mut self) -> Option<BTreeMap<String, ArtifactEntry>> {
        let mut artifacts = BTreeMap::<String, ArtifactEntry>::new();
        if self.skip(NULL).is_some() {
            return Some(artifacts);
        }
        self.skip(br#"{"artifacts":{"#)?;
        loop {
            let name = self.text()?;
            if artifacts.last_key_value().is_some_and(|(last, _)| last.as_str() >= name) {
                return None;
            }
            self.skip(br#":{"digest":"#)?;
            let digest = self.digest()?;
            self.skip(br#","bytes":"#)?;
            let bytes = self.number()?;
            artifacts.insert(name.to_owned(), ArtifactEntry { digest, bytes });
            if self.skip(b"}}}").is_some() {
                return Some(artifacts);
            }
            self.skip(b"},")?;
        }
    }

    /// Takes the detail of a failure: its reason.
    fn reason(&mut self) -> Option<Option<FailReason>> {
        if self.skip(NULL).is_some() {
            return Some(None);
        }
        self.skip(br#"{"reason":"#)?;
        let reason = FailReason::parse(self.text()?)?;
        self.skip(b"}")?;
        Some(Some(reason))
    }

    /// Takes the detail of a failure that is tried again: when, and the whole wait in milliseconds.
    fn wait(&mut self) -> Option<(Timestamp, u64)> {
        self.skip(br#"{"retry_at":"#)?;
        let retry_at = self.timestamp()?;
        self.skip(br#","delay_ms":"#)?;
        let delay_ms = self.number()?;
        self.skip(b"}")?;
        Some((retry_at, delay_ms))
    }
}
