//! [`ValidatedDay`]: a day whose every reading is known to belong to an hour, and what was wrong.
//!
//! A reading that can't be true is set aside and named; the day goes on without it. What can't be
//! decided (two temperatures for one hour), or leaves too little of the day, is an error.
//!
//! **Invariant:** an hour that daylight saving leaves out is no loss, and one that it doubles
//! wants two readings.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use crate::city::City;
use crate::clock::{ClockError, Hour, hours_of};
use crate::reading::{RawDay, Reading};
use crate::summary::celsius;

/// Colder or hotter, in degrees Celsius, than the air at the ground has ever been.
const POSSIBLE_CELSIUS: std::ops::RangeInclusive<f64> = -90.0..=60.0;

/// A day with less than this share of its hours tells nothing: three quarters.
const LEAST_HOURS: (usize, usize) = (3, 4);

/// An hour and its reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidHour {
    /// The moment the hour begins.
    pub at: Timestamp,
    /// What the clock on the wall shows then.
    pub stamp: DateTime,
    /// The temperature in degrees Fahrenheit.
    pub fahrenheit: f64,
}

/// A day that was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidatedDay {
    /// Where.
    pub city: City,
    /// The day.
    pub date: Date,
    /// How many hours the day had: 23, 24 or 25 here.
    pub expected_hours: usize,
    /// The hours that have a reading, as they passed.
    pub hours: Vec<ValidHour>,
    /// What was wrong, as the day passed; empty for a whole day.
    pub issues: Vec<Issue>,
}

/// Something wrong with a day that it can be used without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Issue {
    /// The thermometer can't have shown this; the reading is set aside.
    Impossible {
        /// The line of the file.
        line: u64,
        /// The hour.
        stamp: DateTime,
        /// What the file has, in degrees Fahrenheit.
        fahrenheit: f64,
    },
    /// The clock never showed this hour; the reading is set aside.
    NoSuchHour {
        /// The line of the file.
        line: u64,
        /// The hour.
        stamp: DateTime,
    },
    /// The same reading is there again; it counts once.
    Repeated {
        /// The line of the repetition.
        line: u64,
        /// The hour.
        stamp: DateTime,
    },
    /// The hour has no reading.
    Lost {
        /// The hour.
        stamp: DateTime,
    },
    /// The clock showed this hour twice and one reading is there; it is taken for the first.
    OnceOfTwice {
        /// The hour.
        stamp: DateTime,
    },
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Impossible { line, stamp, fahrenheit } => {
                write!(f, "{fahrenheit} F at {} can't be (line {line})", clock(*stamp))
            }
            Self::NoSuchHour { line, stamp } => {
                write!(f, "{} was left out by daylight saving (line {line})", clock(*stamp))
            }
            Self::Repeated { line, stamp } => {
                write!(f, "{} is there again (line {line})", clock(*stamp))
            }
            Self::Lost { stamp } => write!(f, "{} has no reading", clock(*stamp)),
            Self::OnceOfTwice { stamp } => {
                write!(f, "{} came twice and was read once", clock(*stamp))
            }
        }
    }
}

fn clock(stamp: DateTime) -> impl fmt::Display {
    stamp.strftime("%H:%M")
}

/// A day that can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// The hours of the day can't be told.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// One hour has readings that differ, and nothing says which is right.
    #[error("{stamp} has readings that differ: {first} F and {second} F (line {line})")]
    Conflict {
        /// The line of the reading that is one too many.
        line: u64,
        /// The hour.
        stamp: DateTime,
        /// One temperature.
        first: f64,
        /// Another.
        second: f64,
    },
    /// Too little of the day is left.
    #[error("{date} has {usable} usable readings of {expected}, too few to tell of the day")]
    TooFew {
        /// The day.
        date: Date,
        /// The hours with a reading.
        usable: usize,
        /// The hours of the day.
        expected: usize,
    },
}

/// Judges the readings of a day by the clock of its place.
///
/// # Errors
/// [`ValidateError`] when readings contradict each other or too few are left.
pub fn validate_day(raw: &RawDay) -> Result<ValidatedDay, ValidateError> {
    let clock = hours_of(raw.date, raw.city.zone())?;
    let mut issues = Vec::new();
    let mut usable: Vec<&Reading> = Vec::new();
    for reading in &raw.readings {
        let Reading { line, stamp, fahrenheit } = *reading;
        if !clock.iter().any(|hour| hour.stamp == stamp) {
            issues.push(Issue::NoSuchHour { line, stamp });
        } else if !POSSIBLE_CELSIUS.contains(&celsius(fahrenheit)) {
            issues.push(Issue::Impossible { line, stamp, fahrenheit });
        } else {
            usable.push(reading);
        }
    }
    let mut hours = Vec::new();
    for same in clock.chunk_by(|one, next| one.stamp == next.stamp) {
        hours.extend(fill(same, &usable, &mut issues)?);
    }
    // The stamp decides, and a reading that was set aside comes before the hour it leaves empty.
    issues.sort_by_key(Issue::stamp);
    let (expected, usable) = (clock.len(), hours.len());
    if usable * LEAST_HOURS.1 < expected * LEAST_HOURS.0 {
        return Err(ValidateError::TooFew { date: raw.date, usable, expected });
    }
    Ok(ValidatedDay { city: raw.city, date: raw.date, expected_hours: expected, hours, issues })
}

/// Gives the hours that show the same on the clock, one or two, their readings.
fn fill(
    same: &[Hour],
    usable: &[&Reading],
    issues: &mut Vec<Issue>,
) -> Result<Vec<ValidHour>, ValidateError> {
    let Some(&Hour { stamp, .. }) = same.first() else { return Ok(Vec::new()) };
    let found: Vec<&Reading> = usable.iter().copied().filter(|one| one.stamp == stamp).collect();
    let surplus = found.get(same.len()..).unwrap_or_default();
    for (first, extra) in found.iter().zip(surplus) {
        if first.fahrenheit != extra.fahrenheit {
            let (first, second) = (first.fahrenheit, extra.fahrenheit);
            return Err(ValidateError::Conflict { line: extra.line, stamp, first, second });
        }
        issues.push(Issue::Repeated { line: extra.line, stamp });
    }
    match found.len() {
        0 => issues.extend(same.iter().map(|_| Issue::Lost { stamp })),
        few if few < same.len() => issues.push(Issue::OnceOfTwice { stamp }),
        _ => {}
    }
    let filled = same.iter().zip(found);
    Ok(filled
        .map(|(hour, reading)| ValidHour { at: hour.at, stamp, fahrenheit: reading.fahrenheit })
        .collect())
}

impl Issue {
    /// The hour that it is about.
    #[must_use]
    pub const fn stamp(&self) -> DateTime {
        match self {
            Self::Impossible { stamp, .. }
            | Self::NoSuchHour { stamp, .. }
            | Self::Repeated { stamp, .. }
            | Self::Lost { stamp }
            | Self::OnceOfTwice { stamp } => *stamp,
        }
    }
}

#[cfg(test)]
mod tests;
