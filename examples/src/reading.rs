//! [`RawDay`]: the readings of one day, as the year's file has them.
//!
//! It is not a judge: a reading that can't be true is read like any other; only what is no
//! reading at all is refused, with its line.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use csv::StringRecord;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use crate::city::City;

/// One reading of the thermometer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The line of the file, from 1.
    pub line: u64,
    /// What the file says the clock showed.
    pub stamp: DateTime,
    /// The temperature in degrees Fahrenheit.
    pub fahrenheit: f64,
}

/// The readings of one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawDay {
    /// Where they were taken.
    pub city: City,
    /// The day.
    pub date: Date,
    /// In the order of the file; never empty.
    pub readings: Vec<Reading>,
}

/// A file whose readings can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file can't be opened or read.
    #[error("can't read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file has no column of a name.
    #[error("`{file}`: no column `{column}` in its first line")]
    Column {
        /// The file's name.
        file: String,
        /// The column that is looked for.
        column: &'static str,
    },
    /// A line is no reading.
    #[error("`{file}`, line {line}: {problem}")]
    Line {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The file has no reading of the day.
    #[error("`{file}` has no reading of {date}; it goes {}", span(*first, *last))]
    NoSuchDay {
        /// The file's name.
        file: String,
        /// The day that is looked for.
        date: Date,
        /// The first day that it has.
        first: Option<Date>,
        /// The last day that it has.
        last: Option<Date>,
    },
}

fn span(first: Option<Date>, last: Option<Date>) -> String {
    match (first, last) {
        (Some(first), Some(last)) => format!("from {first} to {last}"),
        _ => "nowhere: it has no readings at all".to_owned(),
    }
}

/// Reads the readings of a day in a city.
///
/// # Errors
/// [`ReadError`] when the file can't be read, is no table of readings, or has none of the day.
pub fn read_day(city: City, date: Date) -> Result<RawDay, ReadError> {
    read_day_from(&city.file(), city, date)
}

/// Reads the readings of a day from a file.
///
/// # Errors
/// As [`read_day`].
pub fn read_day_from(path: &Path, city: City, date: Date) -> Result<RawDay, ReadError> {
    let mut readings = read_year(path)?;
    let days = || readings.iter().map(|reading| reading.stamp.date());
    let (first, last) = (days().min(), days().max());
    readings.retain(|reading| reading.stamp.date() == date);
    if readings.is_empty() {
        return Err(ReadError::NoSuchDay { file: name(path), date, first, last });
    }
    Ok(RawDay { city, date, readings })
}

/// Reads all that a file has.
pub(crate) fn read_year(path: &Path) -> Result<Vec<Reading>, ReadError> {
    let file =
        File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let mut table = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let headers = table.headers().map_err(|error| refused(path, error))?;
    let find = |column: &'static str| {
        let place = headers.iter().position(|header| header == column);
        place.ok_or_else(|| ReadError::Column { file: name(path), column })
    };
    let (stamp, temp) = (find("date")?, find("temp")?);
    let rows = table.records().map(|row| {
        let row = row.map_err(|error| refused(path, error))?;
        parse(&row, stamp, temp).map_err(|problem| ReadError::Line {
            file: name(path),
            line: line(row.position()),
            problem,
        })
    });
    rows.collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn refused(path: &Path, error: csv::Error) -> ReadError {
    let line = line(error.position());
    let problem = error.to_string();
    let problem = match error.into_kind() {
        csv::ErrorKind::Io(source) => return ReadError::Io { path: path.to_owned(), source },
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} columns, where the first line has {expected_len}")
        }
        _ => problem,
    };
    ReadError::Line { file: name(path), line, problem }
}

fn line(position: Option<&csv::Position>) -> u64 {
    position.map_or(1, csv::Position::line)
}

/// Understands `2010/07/04 13:00` and `2010/07/04 13:00:00`.
fn parse(row: &StringRecord, stamp: usize, temp: usize) -> Result<Reading, String> {
    let (stamp, temp) = (&row[stamp], &row[temp]);
    let time = ["%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M"]
        .iter()
        .find_map(|format| DateTime::strptime(format, stamp).ok())
        .ok_or_else(|| format!("`{stamp}` is no date and time"))?;
    if (time.minute(), time.second()) != (0, 0) {
        return Err(format!("`{stamp}` is no full hour, and the readings are hourly"));
    }
    let fahrenheit = temp
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| format!("`{temp}` is no temperature"))?;
    Ok(Reading { line: line(row.position()), stamp: time, fahrenheit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(table: &str, date: &str) -> Result<RawDay, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, table).unwrap();
        read_day_from(&path, City::Seattle, date.parse().unwrap())
            .map_err(|error| error.to_string())
    }

    fn check(table: &str, expected: &str) {
        assert_eq!(take(table, "2010-07-04").unwrap_err(), expected, "{table}");
    }

    #[test]
    fn both_orders_and_both_stamps_give_the_same_day() {
        let one = take("date,temp\n2010/07/04 00:00,54.3\n2010/07/05 00:00,1\n", "2010-07-04");
        let other = take("temp,date\n54.3,2010/07/04 00:00:00\n", "2010-07-04");
        assert_eq!(one, other);
        assert_eq!(one.unwrap().readings[0].line, 2);
    }

    #[test]
    fn what_is_no_reading_is_refused_with_its_line() {
        check(
            "date,temp\n2010/07/04 00:00,54\n2010/07/04,55\n",
            "`t.csv`, line 3: `2010/07/04` is no date and time",
        );
        check(
            "date,temp\n2010/02/30 00:00,54\n",
            "`t.csv`, line 2: `2010/02/30 00:00` is no date and time",
        );
        check(
            "date,temp\n2010/07/04 00:30,54\n",
            "`t.csv`, line 2: `2010/07/04 00:30` is no full hour, and the readings are hourly",
        );
        check("date,temp\n2010/07/04 00:00,\n", "`t.csv`, line 2: `` is no temperature");
        check("date,temp\n2010/07/04 00:00,NaN\n", "`t.csv`, line 2: `NaN` is no temperature");
        check(
            "date,temp\n2010/07/04 00:00\n",
            "`t.csv`, line 2: 1 columns, where the first line has 2",
        );
        check("when,temp\n", "`t.csv`: no column `date` in its first line");
        check("", "`t.csv`: no column `date` in its first line");
    }

    #[test]
    fn a_day_that_is_not_there_is_told_with_the_days_that_are() {
        check(
            "date,temp\n2010/07/05 00:00,54\n2010/07/03 00:00,54\n",
            "`t.csv` has no reading of 2010-07-04; it goes from 2010-07-03 to 2010-07-05",
        );
        check(
            "date,temp\n",
            "`t.csv` has no reading of 2010-07-04; it goes nowhere: it has no readings at all",
        );
    }

    #[test]
    fn a_file_that_is_away_may_come_back() {
        let missing = Path::new("nowhere/t.csv");
        let error = read_day_from(missing, City::Seattle, Date::constant(2010, 7, 4)).unwrap_err();
        assert!(matches!(error, ReadError::Io { .. }));
        assert_eq!(error.to_string(), "can't read `nowhere/t.csv`");
    }

    #[test]
    fn the_real_files_are_read_to_their_last_line_and_survive_json() {
        for city in [City::Seattle, City::SanFrancisco] {
            let day = read_day(city, Date::constant(2010, 12, 31)).unwrap();
            assert_eq!(day.readings.len(), 24);
            assert_eq!(day.readings[23].line, 8760);
            let text = serde_json::to_string(&day).unwrap();
            assert_eq!(serde_json::from_str::<RawDay>(&text).unwrap(), day);
        }
    }
}
