//! The target `record`: a record that the bytes describe.
//!
//! Its line, read in both ways, gives it back; the line ends in the right crc; with one bit changed
//! it is refused.

use std::collections::BTreeMap;
use std::io;

use apollo::{
    ArtifactEntry, Attempt, Closing, Crc, Digest, End, Event, FailReason, Record, RecordError,
    Status, StepId, Timestamp,
};
use arbitrary::{Result, Unstructured};

pub(super) fn check(input: &[u8]) {
    let mut from = Unstructured::new(input);
    if let Ok(record) = record(&mut from) {
        check_record(&record, from.arbitrary().unwrap_or_default());
    }
}

fn check_record(record: &Record, bit: usize) {
    let line = match record.encode("x.jsonl") {
        Err(RecordError::TooLong { .. }) => return,
        line => line.expect("a record that fits"),
    };
    let text = line.bytes.strip_suffix(b"\n").expect("a newline");
    assert!(!text.contains(&b'\n'));
    let load = |name: &str| {
        let spilled = line.spills.iter().find(|spill| spill.name == name);
        spilled.map(|spill| spill.bytes.clone()).ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    let mut bad = text.to_vec();
    bad[bit / 8 % text.len()] ^= 1 << (bit % 8);
    for decode in [Record::decode, Record::decode_as_json] {
        let (read, crc) = decode(text, &load).expect("what was written can be read");
        assert_eq!((&read, crc), (record, line.crc));
        assert!(decode(&bad, &load).is_err(), "bit {bit}: {}", bad.escape_ascii());
    }
    let again = record.encode("x.jsonl").expect("a record that fits");
    assert_eq!(again, line, "the same record gives the same bytes");
}

fn record(from: &mut Unstructured<'_>) -> Result<Record> {
    let seconds: u32 = from.arbitrary()?;
    let us = from.int_in_range(0..=999_999)?;
    Ok(Record {
        timestamp: Timestamp::from_unix_us(i64::from(seconds) * 1_000_000 + us),
        seq: from.arbitrary()?,
        epoch: from.arbitrary()?,
        durable: from.arbitrary()?,
        prev: Crc::of(from.bytes(4)?),
        event: event(from)?,
    })
}

fn event(from: &mut Unstructured<'_>) -> Result<Event> {
    Ok(match from.int_in_range(0..=5)? {
        0 | 1 => Event::AttemptStarted(attempt(from)?),
        2 | 3 => Event::AttemptEnded {
            attempt: attempt(from)?,
            duration_ms: from.arbitrary()?,
            end: end(from)?,
        },
        4 => Event::Skipped {
            step: step(from)?,
            attempts: from.arbitrary()?,
            reason: from.arbitrary()?,
        },
        _ => Event::EpochClosed(Box::new(closing(from)?)),
    })
}

fn end(from: &mut Unstructured<'_>) -> Result<End> {
    Ok(match from.int_in_range(0..=2)? {
        0 => End::Success { output_digest: digest(from)?, artifacts: artifacts(from)? },
        1 => End::Failed {
            error: from.arbitrary()?,
            reason: match from.int_in_range(0..=3)? {
                0 => None,
                1 => Some(FailReason::Stopped),
                2 => Some(FailReason::Interrupted),
                _ => Some(FailReason::Interruptions),
            },
        },
        _ => End::Retrying {
            error: from.arbitrary()?,
            retry_at: Timestamp::from_unix_us(from.int_in_range(0..=i64::from(u32::MAX))?),
            delay_ms: from.arbitrary()?,
        },
    })
}

fn closing(from: &mut Unstructured<'_>) -> Result<Closing> {
    let mut steps = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for _ in 0..from.int_in_range(0..=3)? {
        let status = *from.choose(&Status::ALL)?;
        steps.insert(step(from)?, status);
        *counts.entry(status).or_default() += 1;
    }
    Ok(Closing {
        success: from.arbitrary()?,
        degraded: steps.keys().take(from.int_in_range(0..=2)?).cloned().collect(),
        steps: from.arbitrary::<bool>()?.then_some(steps),
        counts,
        duration_ms: from.arbitrary()?,
    })
}

fn artifacts(from: &mut Unstructured<'_>) -> Result<BTreeMap<String, ArtifactEntry>> {
    let mut artifacts = BTreeMap::new();
    for _ in 0..from.int_in_range(0..=3)? {
        let entry = ArtifactEntry { digest: digest(from)?, bytes: from.arbitrary()? };
        artifacts.insert(step(from)?.to_string(), entry);
    }
    Ok(artifacts)
}

fn attempt(from: &mut Unstructured<'_>) -> Result<Attempt> {
    let (step, retry_count) = (step(from)?, from.arbitrary()?);
    Ok(Attempt { step, retry_count, input_digest: digest(from)? })
}

fn digest(from: &mut Unstructured<'_>) -> Result<Digest> {
    Ok(Digest::of(from.bytes(2)?))
}

fn step(from: &mut Unstructured<'_>) -> Result<StepId> {
    let text: &str = from.arbitrary()?;
    Ok(StepId::parse(text).unwrap_or_else(|_| StepId::parse("s").expect("an id")))
}
