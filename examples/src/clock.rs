//! The hours that a day really has: 24, and where the clocks are changed 23 or 25.
//!
//! It is not a clock: it asks the bundled time zone database, never the machine.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZoneDatabase;
use jiff::{Timestamp, ToSpan as _};

/// One hour of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour {
    /// The moment it begins.
    pub at: Timestamp,
    /// What the clock on the wall shows then.
    pub stamp: DateTime,
}

/// A day whose hours can't be told.
#[derive(Debug, thiserror::Error)]
#[error("can't tell the hours of {date} in {zone}")]
pub struct ClockError {
    /// The day.
    pub date: Date,
    /// The time zone's IANA name.
    pub zone: String,
    /// What the time zone database says.
    #[source]
    pub source: jiff::Error,
}

/// Lists the hours of a day, as they pass.
///
/// # Errors
/// [`ClockError`] when there is no such zone, or the day is the last that dates can tell.
pub fn hours_of(date: Date, zone: &str) -> Result<Vec<Hour>, ClockError> {
    list(date, zone).map_err(|source| ClockError { date, zone: zone.to_owned(), source })
}

fn list(date: Date, zone: &str) -> Result<Vec<Hour>, jiff::Error> {
    let zone = TimeZoneDatabase::bundled().get(zone)?;
    let end = zone.to_timestamp(date.tomorrow()?.at(0, 0, 0, 0))?;
    let mut at = zone.to_timestamp(date.at(0, 0, 0, 0))?;
    let mut hours = Vec::new();
    while at < end {
        hours.push(Hour { at, stamp: zone.to_datetime(at) });
        at = at.checked_add(1.hour())?;
    }
    Ok(hours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(date: &str, expected: &[i8]) {
        let hours = hours_of(date.parse().unwrap(), "America/Los_Angeles").unwrap();
        let shown: Vec<i8> = hours.iter().map(|hour| hour.stamp.hour()).collect();
        assert_eq!(shown, expected, "{date}");
    }

    #[test]
    fn an_hour_is_left_out_in_spring_and_comes_twice_in_autumn() {
        let plain: Vec<i8> = (0..24).collect();
        let spring: Vec<i8> = (0..24).filter(|hour| *hour != 2).collect();
        let autumn: Vec<i8> = [0, 1].into_iter().chain(1..24).collect();
        check("2010-07-04", &plain);
        check("2010-03-14", &spring);
        check("2010-11-07", &autumn);
        // The rule was another one before 2007.
        check("2006-03-12", &plain);
        check("2006-04-02", &spring);
    }

    #[test]
    fn an_unknown_zone_is_an_error() {
        let error = hours_of(Date::constant(2010, 7, 4), "Mars/Olympus").unwrap_err();
        assert_eq!(error.to_string(), "can't tell the hours of 2010-07-04 in Mars/Olympus");
    }
}
