//! [`Timestamp`]: a moment in UTC with microseconds, and its text form in the log.
//!
//! It is not a clock: it can't find out what time it is.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in microseconds since the Unix epoch, written `2026-11-29T12:34:56.000789Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A text that is no timestamp of the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no timestamp: want RFC 3339 in UTC with six decimals", .text.escape_debug())]
#[non_exhaustive]
pub struct TimestampError {
    /// The text as it was given.
    pub text: String,
}

impl Timestamp {
    /// The moment so many microseconds after the Unix epoch.
    #[must_use]
    pub const fn from_unix_us(unix_us: i64) -> Self {
        Self(unix_us)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn unix_us(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch; 0 before it.
    #[must_use]
    pub fn unix_s(self) -> u64 {
        u64::try_from(self.0.div_euclid(1_000_000)).unwrap_or(0)
    }

    /// The moment so much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let later = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(later))
    }

    /// How long after `earlier` this is; nothing when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let elapsed_us = u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0);
        Duration::from_micros(elapsed_us)
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// [`TimestampError`] when the text has any other form, even one that RFC 3339 allows.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        text.as_bytes()
            .try_into()
            .ok()
            .and_then(Self::of_form)
            .ok_or_else(|| TimestampError { text: text.to_owned() })
    }

    /// Reads `YYYY-MM-DDTHH:MM:SS.ffffffZ` where that is a moment.
    #[must_use]
    #[rustfmt::skip]
    pub(crate) fn of_form(text: &[u8; 27]) -> Option<Self> {
        let [
            y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T',
            h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2, f3, f4, f5, f6, b'Z',
        ] = *text else { return None };
        let two = |tens, ones| number([tens, ones])?.try_into().ok();
        let civil = jiff::civil::DateTime::new(
            number([y1, y2, y3, y4])?.try_into().ok()?, two(m1, m2)?, two(d1, d2)?,
            two(h1, h2)?, two(n1, n2)?, two(s1, s2)?, number([f1, f2, f3, f4, f5, f6])? * 1_000,
        );
        let moment = jiff::tz::Offset::UTC.to_timestamp(civil.ok()?).ok()?;
        Some(Self(moment.as_microsecond()))
    }
}

/// The number that decimal digits say.
fn number<const N: usize>(digits: [u8; N]) -> Option<i32> {
    digits
        .iter()
        .try_fold(0, |n, digit| digit.is_ascii_digit().then(|| n * 10 + i32::from(digit - b'0')))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        write!(f, "{moment:.6}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_of_the_log_is_read() {
        let moment = Timestamp::from_unix_us(1_794_000_000_000_789);
        assert_eq!(moment.to_string(), "2026-11-06T21:20:00.000789Z");
        assert_eq!(Timestamp::parse("2026-11-06T21:20:00.000789Z"), Ok(moment));
        for text in [
            "2026-11-06T21:20:00Z",
            "2026-11-06 21:20:00.000789Z",
            "2026-11-06t21:20:00.000789z",
            "2026-11-06T22:20:00.000789+01:00",
            "2026-11-06T22:20:00.00078+9Z",
            "2026-13-06T21:20:00.000789Z",
            "2026-02-29T21:20:00.000789Z",
            "2026-11-06T24:00:00.000000Z",
            "2026-11-06T23:59:60.000000Z",
            "9999-12-31T23:59:59.999999Z",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_written_is_read() {
        for text in [
            "0000-01-01T00:00:00.000000Z",
            "1969-12-31T23:59:59.999999Z",
            "1970-01-01T00:00:00.000000Z",
            "2024-02-29T12:34:56.000001Z",
            "9999-12-30T22:00:00.999999Z",
        ] {
            let moment = Timestamp::parse(text).map(|moment| moment.to_string());
            assert_eq!(moment.as_deref(), Ok(text));
        }
    }
}
