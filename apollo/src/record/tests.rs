use super::*;

fn no_spill(_name: &str) -> std::io::Result<Vec<u8>> {
    Err(std::io::ErrorKind::NotFound.into())
}

fn record(event: Event) -> Record {
    Record {
        timestamp: Timestamp::from_unix_us(1_794_000_000_000_789),
        seq: 7,
        epoch: 1,
        durable: 6,
        prev: Crc::of(b"before"),
        event,
    }
}

fn attempt() -> Attempt {
    Attempt {
        step: StepId::parse("fetch").unwrap(),
        retry_count: 2,
        input_digest: Digest::of(b"in"),
    }
}

fn header(steps: usize) -> Event {
    let step = |n: usize| HeaderStep {
        id: StepId::parse(&format!("s{n}")).unwrap(),
        depends_on: vec![],
        optional: false,
        retry: crate::policy::Retry::NONE.resolve(3, std::time::Duration::from_secs(1)),
        timeout_ms: None,
        digest: Digest::of(b"def"),
        version: 1,
    };
    Event::EpochOpened(Box::new(Header {
        schema: SCHEMA,
        apollo: "0.1.0".to_owned(),
        task: TaskName::parse("t").unwrap(),
        task_id: TaskId::parse("t-1").unwrap(),
        params: [("date".to_owned(), Some("2010-07-04".to_owned())), ("key".to_owned(), None)]
            .into(),
        graph_digest: Digest::of(b"graph"),
        max_parallel: 2,
        reason: OpenReason::Start,
        steps: (0..steps).map(step).collect(),
        rerun: vec![],
        resume_from: None,
        renamed: BTreeMap::new(),
        warnings: vec![],
        host: "n1".to_owned(),
        pid: 1,
        program: None,
    }))
}

fn end(end: End) -> Event {
    Event::AttemptEnded { attempt: attempt(), duration_ms: Some(5), end }
}

fn failed(error: &str, reason: Option<FailReason>) -> Event {
    end(End::Failed { error: error.to_owned(), reason })
}

fn events() -> Vec<Event> {
    let artifact = ArtifactEntry { digest: Digest::of(b"a"), bytes: 1 };
    let output_digest = Digest::of(b"null");
    vec![
        header(2),
        Event::AttemptStarted(attempt()),
        end(End::Success { output_digest, artifacts: BTreeMap::new() }),
        end(End::Success {
            output_digest,
            artifacts: ["a.csv", "b.csv"].map(|name| (name.to_owned(), artifact)).into(),
        }),
        failed("line one\nline two\u{1b}[31m\0\u{202e}", None),
        failed("stopped", Some(FailReason::Stopped)),
        end(End::Retrying {
            error: "again".to_owned(),
            retry_at: Timestamp::from_unix_us(0),
            delay_ms: 9,
        }),
        Event::Skipped { step: attempt().step, attempts: 1, reason: "--skip".to_owned() },
        Event::EpochClosed(Box::new(Closing {
            success: true,
            steps: Some([(attempt().step, Status::Success)].into()),
            counts: [(Status::Success, 1)].into(),
            degraded: vec![],
            duration_ms: 77,
        })),
    ]
}

#[test]
fn every_event_comes_back_from_its_line() {
    for event in events() {
        let record = record(event);
        let line = record.encode("x.jsonl").unwrap();
        let text = line.bytes.strip_suffix(b"\n").unwrap();
        assert_eq!(Record::decode(text, &no_spill).unwrap(), (record, line.crc));
    }
}

#[test]
fn a_start_is_written_in_the_documented_order() {
    let line = record(Event::AttemptStarted(attempt())).encode("x.jsonl").unwrap();
    let expected = format!(
        concat!(
            r#"{{"timestamp":"2026-11-06T21:20:00.000789Z","step_id":"fetch","#,
            r#""event_type":"STEP_START","status":"RUNNING","retry_count":2,"input_digest":"{}","#,
            r#""output_digest":null,"error_message":null,"duration_ms":null,"seq":7,"epoch":1,"#,
            r#""durable":6,"detail":null,"prev":"{}","crc":"{}"}}"#,
            "\n"
        ),
        Digest::of(b"in"),
        Crc::of(b"before"),
        line.crc
    );
    assert_eq!(String::from_utf8(line.bytes).unwrap(), expected);
}

#[test]
fn every_flipped_bit_is_noticed() {
    for event in events().into_iter().skip(1).step_by(2) {
        let line = record(event).encode("x.jsonl").unwrap().bytes;
        let line = line.strip_suffix(b"\n").unwrap();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut bad = line.to_vec();
                bad[at] ^= 1 << bit;
                assert!(Record::decode(&bad, &no_spill).is_err(), "bit {bit} of byte {at}");
            }
            assert!(Record::decode(&line[..at], &no_spill).is_err(), "cut at {at}");
        }
    }
}

/// A line with these bytes in front of its crc, and the right crc.
fn signed(body: &[u8]) -> Vec<u8> {
    [body, format!(",\"crc\":\"{}\"}}", Crc::of(body)).as_bytes()].concat()
}

/// Reads a line in both ways, and tells whether it was a plain one.
fn check_both_ways(body: &[u8]) -> bool {
    let line = signed(body);
    let told = |decoded: Result<_, RecordError>| decoded.map_err(|error| error.to_string());
    let as_json = told(Record::decode_as_json(&line, &no_spill));
    let shown = String::from_utf8_lossy(&line);
    assert_eq!(told(Record::decode(&line, &no_spill)), as_json, "{shown}");
    let Some(record) = plain::read(body) else { return false };
    assert_eq!(
        record.encode("x.jsonl").unwrap().bytes.strip_suffix(b"\n"),
        Some(&*line),
        "{shown}"
    );
    true
}

#[test]
fn a_plain_line_is_read_like_any_other_and_is_what_would_be_written() {
    let mut plain = 0;
    for event in events().into_iter().skip(1) {
        let line = record(event).encode("x.jsonl").unwrap().bytes;
        let body = &line[..line.len() - ",\"crc\":\"00000000\"}\n".len()];
        plain += usize::from(check_both_ways(body));
        for at in 0..body.len() {
            let (before, after) = (&body[..at], &body[at + 1..]);
            for byte in *b"\"\\09aZ-,{} \0\xe4" {
                check_both_ways(&[before, &[byte], after].concat());
            }
            check_both_ways(&[before, after].concat());
            check_both_ways(&[before, b"0", &body[at..]].concat());
            if let Some(after) = body[at..].strip_prefix(b"null") {
                check_both_ways(&[before, b"7", after].concat());
                check_both_ways(&[before, br#""x""#, after].concat());
            }
        }
    }
    assert_eq!(plain, 5, "starts and ends of attempts, all but the one with an escape");
}

#[test]
fn a_number_that_does_not_fit_is_refused() {
    let text =
        String::from_utf8(record(Event::AttemptStarted(attempt())).encode("x").unwrap().bytes);
    let text = text.unwrap();
    let (body, _crc) = text.split_once(",\"crc\"").unwrap();
    for (key, most) in [("retry_count", "4294967295"), ("seq", "18446744073709551615")] {
        let (before, after) = body.split_once(&format!("\"{key}\":")).unwrap();
        let (_number, after) = after.split_once(',').unwrap();
        for (number, is_plain) in [
            (most.to_owned(), true),
            (format!("{most}0"), false),
            (format!("0{most}"), false),
            ("-0".to_owned(), false),
        ] {
            let body = format!("{before}\"{key}\":{number},{after}");
            assert_eq!(check_both_ways(body.as_bytes()), is_plain, "{body}");
        }
    }
}

#[test]
fn what_does_not_fit_goes_beside_the_log() {
    let record = record(header(2_000));
    let line = record.encode("x.jsonl").unwrap();
    assert!(line.bytes.len() <= LINE_BYTES_MAX + 1);
    let [spill] = line.spills.as_slice() else { panic!("one spill, not {:?}", line.spills.len()) };
    assert_eq!(spill.name, "x.jsonl.7.steps.json");
    let text = line.bytes.strip_suffix(b"\n").unwrap();
    let load = |name: &str| {
        (name == spill.name).then(|| spill.bytes.clone()).ok_or(std::io::ErrorKind::NotFound.into())
    };
    assert_eq!(Record::decode(text, &load).unwrap().0, record);
    let altered = |_: &str| Ok(b"[]".to_vec());
    assert!(matches!(Record::decode(text, &altered), Err(RecordError::Spill { .. })));
    assert!(matches!(Record::decode(text, &no_spill), Err(RecordError::Spill { .. })));
}

#[test]
fn a_summary_too_long_for_its_line_leaves_the_states_out() {
    let steps =
        (0..4_096).map(|n| (StepId::parse(&format!("{n:0>100}")).unwrap(), Status::Success));
    let summary = Closing {
        success: true,
        steps: Some(steps.collect()),
        counts: [(Status::Success, 4_096)].into(),
        degraded: vec![],
        duration_ms: 1,
    };
    let line = record(Event::EpochClosed(Box::new(summary))).encode("x.jsonl").unwrap();
    assert!(line.spills.is_empty());
    let text = line.bytes.strip_suffix(b"\n").unwrap();
    let (back, _crc) = Record::decode(text, &no_spill).unwrap();
    assert!(matches!(back.event, Event::EpochClosed(summary) if summary.steps.is_none()));
}

#[test]
fn a_long_message_is_cut_between_characters() {
    let cut = cut_message(&"\u{20ac}".repeat(10_000));
    assert!(cut.len() <= ERROR_BYTES_MAX && cut.ends_with(" ... [cut]"));
    let worst = record(failed(&cut_message(&"\u{1}".repeat(1 << 20)), None));
    assert!(worst.encode("x.jsonl").unwrap().bytes.len() <= LINE_BYTES_MAX);
}

#[test]
fn another_schema_is_refused_by_name() {
    let mut event = header(1);
    let Event::EpochOpened(header) = &mut event else { unreachable!() };
    header.schema = 2;
    let line = record(event).encode("x.jsonl").unwrap().bytes;
    let error = Record::decode(line.strip_suffix(b"\n").unwrap(), &no_spill).unwrap_err();
    assert!(error.to_string().contains("schema 2"), "{error}");
}
