//! What is said about a day, to those who were promised whole days only.

use jiff::civil::Date;

use crate::summary::DaySummary;
use crate::validate::ValidatedDay;

/// A day that is not announced, because something was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{date} is not announced, it has {hours} of its {expected} hours: {issues}")]
pub struct NotWhole {
    /// The day.
    pub date: Date,
    /// How many hours have a reading.
    pub hours: usize,
    /// How many the day had.
    pub expected: usize,
    /// What was wrong.
    pub issues: String,
}

/// Words the message about a day.
///
/// # Errors
/// [`NotWhole`] when validation left anything to say against the day.
pub fn announce(day: &ValidatedDay, summary: &DaySummary) -> Result<String, NotWhole> {
    if !day.issues.is_empty() {
        let issues: Vec<String> = day.issues.iter().map(ToString::to_string).collect();
        return Err(NotWhole {
            date: day.date,
            hours: summary.hours,
            expected: day.expected_hours,
            issues: issues.join("; "),
        });
    }
    Ok(format!(
        "{} on {}: {:.1} to {:.1} C, {:.1} C on average over {} hours\n",
        day.city.title(),
        day.date,
        summary.min_celsius,
        summary.max_celsius,
        summary.mean_celsius,
        summary.hours,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{City, read_day, summarize, validate_day};

    fn check(date: Date, expected: &str) {
        let day = validate_day(&read_day(City::Seattle, date).unwrap()).unwrap();
        let text = announce(&day, &summarize(&day)).unwrap_or_else(|error| error.to_string());
        assert_eq!(text, expected);
    }

    #[test]
    fn a_whole_day_is_announced_and_one_with_a_lost_hour_is_not() {
        check(
            Date::constant(2010, 7, 4),
            "Seattle on 2010-07-04: 13.0 to 21.9 C, 17.3 C on average over 24 hours\n",
        );
        check(
            Date::constant(2010, 3, 14),
            "2010-03-14 is not announced, it has 22 of its 23 hours: \
             02:00 was left out by daylight saving (line 1732); 03:00 has no reading",
        );
    }
}
