//! The target `message`: any bytes as what a failed attempt says.
//!
//! It becomes one line that fits, from which both ways of reading, and an unescaping that knows
//! neither of them, give back what was kept of it.
//!
//! The first byte says how often the rest is repeated, so that a short input is a long message.

use std::io;
use std::iter::repeat_n;

use apollo::testing::cut_message;
use apollo::{Crc, End, Event, Record, StepError, Timestamp};

use crate::events::{attempt, step};

/// How long a repeated message becomes.
const SAID_BYTES_MAX: usize = 1024 * 1024;

const MESSAGE_BYTES_MAX: usize = 8 * 1024;
const LINE_BYTES_MAX: usize = 65_535;
const MARK: &str = " ... [cut]";

pub(super) fn check(input: &[u8]) {
    let Some((times, bytes)) = input.split_first() else { return };
    let most = SAID_BYTES_MAX / bytes.len().max(1) + 1;
    let times = usize::from(*times).pow(2).clamp(1, most);
    let said: String = repeat_n(String::from_utf8_lossy(bytes), times).collect();
    let error = StepError::new(&said);
    let message = cut_message(error.message());
    check_cut(&said, &message);
    check_line(End::Failed { error: message.clone(), reason: None }, &message);
    let retry_at = Timestamp::from_unix_us(0);
    check_line(End::Retrying { error: message.clone(), retry_at, delay_ms: 1 }, &message);
}

/// What is kept is what was said, or its beginning and a mark.
fn check_cut(said: &str, message: &str) {
    assert!((1..=MESSAGE_BYTES_MAX).contains(&message.len()));
    if said.len() > MESSAGE_BYTES_MAX {
        let kept = message.strip_suffix(MARK).expect("a mark where something was cut");
        assert!(said.starts_with(kept) && message.len() + 4 > MESSAGE_BYTES_MAX);
    } else if !said.is_empty() {
        assert_eq!(message, said);
    }
}

fn check_line(end: End, message: &str) {
    let record = Record {
        timestamp: Timestamp::from_unix_us(0),
        seq: 0,
        epoch: 0,
        durable: 0,
        prev: Crc::default(),
        event: Event::AttemptEnded { attempt: attempt(&step("s"), 0), duration_ms: None, end },
    };
    let line = record.encode("x.jsonl").expect("a message always fits");
    assert_eq!(line.spills, []);
    let text = line.bytes.strip_suffix(b"\n").expect("a newline");
    assert!(text.len() <= LINE_BYTES_MAX && !text.contains(&b'\n'));
    let no_spill = |_: &str| Err(io::ErrorKind::NotFound.into());
    for decode in [Record::decode, Record::decode_as_json] {
        assert_eq!(decode(text, &no_spill).expect("a record"), (record.clone(), line.crc));
    }
    assert_eq!(unescaped(text), message);
}

/// The error message of a line, read without a parser.
fn unescaped(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).expect("UTF-8");
    let (_, text) = text.split_once("\"error_message\":\"").expect("a message");
    let (mut said, mut rest) = (String::new(), text.chars());
    loop {
        said.push(match rest.next().expect("a closing quote") {
            '"' => return said,
            '\\' => match rest.next().expect("an escaped character") {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let hex: String = rest.by_ref().take(4).collect();
                    let unit = u32::from_str_radix(&hex, 16).expect("four digits");
                    char::from_u32(unit).expect("only controls are escaped by number")
                }
                itself => itself,
            },
            itself => itself,
        });
    }
}
