//! What is said about a day, to those who were promised whole days only, and how it is posted.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use jiff::civil::Date;

use crate::summary::DaySummary;

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
pub fn announce(day: &DaySummary) -> Result<String, NotWhole> {
    let DaySummary { date, hours, expected_hours: expected, .. } = *day;
    if !day.issues.is_empty() {
        let issues: Vec<String> = day.issues.iter().map(ToString::to_string).collect();
        return Err(NotWhole { date, hours, expected, issues: issues.join("; ") });
    }
    let (min, max, mean) = (day.min_celsius, day.max_celsius, day.mean_celsius);
    let city = day.city.title();
    Ok(format!(
        "{city} on {date}: {min:.1} to {max:.1} C, {mean:.1} C on average over {hours} hours\n"
    ))
}

/// Leaves a message in an outbox under a key, whose `/` and `:` become `-`; the same key again is
/// the same message.
///
/// # Errors
/// What the file system says; nothing is in the outbox under the key then, or what was before.
///
/// # Durability
/// The message survives a power cut once this has returned.
pub fn post(outbox: &Path, key: &str, message: &str) -> io::Result<()> {
    fs::create_dir_all(outbox)?;
    let name = key.replace(['/', ':'], "-");
    let draft = outbox.join(format!(".{name}"));
    let mut file = File::create(&draft)?;
    file.write_all(message.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, outbox.join(name))?;
    File::open(outbox)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{City, read_day, summarize, validate_day};

    fn check(date: Date, expected: &str) {
        let day = validate_day(&read_day(City::Seattle, date).unwrap()).unwrap();
        let text = announce(&summarize(&day)).unwrap_or_else(|error| error.to_string());
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

    #[test]
    fn a_message_is_posted_once_under_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = folder.path().join("outbox");
        for _ in 0..2 {
            post(&outbox, "task/step/sha256:00", "message\n").unwrap();
        }
        let names: Vec<_> =
            fs::read_dir(&outbox).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["task-step-sha256-00"]);
        assert_eq!(fs::read_to_string(outbox.join(&names[0])).unwrap(), "message\n");
    }
}
