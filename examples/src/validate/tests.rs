//! Days as they are in the files, and days as they should not be.

use super::*;
use crate::reading::{read_day, read_year};

/// A day of 20.0 F at midnight and one more each hour, `change`d, as its issues or its error.
fn check(date: &str, change: impl FnOnce(&mut Vec<Reading>), expected: &[&str]) {
    let date: Date = date.parse().unwrap();
    let mut readings: Vec<Reading> = (0..24_i8)
        .map(|hour| Reading {
            line: 2 + u64::from(hour.unsigned_abs()),
            stamp: date.at(hour, 0, 0, 0),
            fahrenheit: 20.0 + f64::from(hour),
        })
        .collect();
    change(&mut readings);
    let found = match validate_day(&RawDay { city: City::Seattle, date, readings }) {
        Ok(day) => day.issues.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    };
    assert_eq!(found, expected);
}

#[test]
fn an_hour_that_daylight_saving_leaves_out_is_no_loss() {
    check("2010-03-14", |day| day.retain(|one| one.line != 4), &[]);
    check("2010-03-14", |_| {}, &["02:00 was left out by daylight saving (line 4)"]);
    check("2010-07-04", |day| day.retain(|one| one.line != 4), &["02:00 has no reading"]);
}

#[test]
fn an_hour_that_comes_twice_wants_two_readings() {
    check("2010-11-07", |_| {}, &["01:00 came twice and was read once"]);
    check("2010-11-07", |day| day.insert(2, Reading { fahrenheit: 20.5, ..day[1].clone() }), &[]);
    check("2010-11-07", |day| day.retain(|one| one.line != 3), &["01:00 has no reading"; 2]);
}

#[test]
fn a_repeated_stamp_counts_once_and_two_temperatures_for_it_are_an_error() {
    check("2010-07-04", |day| day.push(day[5].clone()), &["05:00 is there again (line 7)"]);
    check(
        "2010-07-04",
        |day| day.push(Reading { line: 26, fahrenheit: 99.0, ..day[5].clone() }),
        &["2010-07-04T05:00:00 has readings that differ: 25 F and 99 F (line 26)"],
    );
}

#[test]
fn what_the_air_has_never_been_is_set_aside() {
    for impossible in [-9999.0, -131.0, 141.0, 999.9] {
        let text = format!("{impossible} F at 03:00 can't be (line 5)");
        let change = |day: &mut Vec<Reading>| day[3].fahrenheit = impossible;
        check("2010-07-04", change, &[&text, "03:00 has no reading"]);
    }
    check("2010-07-04", |day| day[3].fahrenheit = -130.0, &[]);
    check("2010-07-04", |day| day[3].fahrenheit = 140.0, &[]);
}

#[test]
fn three_quarters_of_the_hours_make_a_day() {
    let lost = ["18", "19", "20", "21", "22", "23"].map(|hour| format!("{hour}:00 has no reading"));
    check("2010-07-04", |day| day.truncate(18), &lost.each_ref().map(String::as_str));
    let few = "2010-07-04 has 17 usable readings of 24, too few to tell of the day";
    check("2010-07-04", |day| day.truncate(17), &[few]);
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    check("2010-07-04", |day| day.reverse(), &[]);
}

#[test]
fn the_real_files_hold_what_their_readme_says() {
    for city in [City::Seattle, City::SanFrancisco] {
        let year = read_year(&city.file()).unwrap();
        let days = year.chunk_by(|one, next| one.stamp.date() == next.stamp.date());
        assert_eq!(days.clone().count(), 365);
        for readings in days {
            let (date, readings) = (readings[0].stamp.date(), readings.to_vec());
            let day = validate_day(&RawDay { city, date, readings }).unwrap();
            let issues: Vec<_> = day.issues.iter().map(ToString::to_string).collect();
            let issues: Vec<&str> = issues.iter().map(String::as_str).collect();
            let expected: (usize, &[&str]) = match (date.month(), date.day()) {
                (3, 14) => (22, &SPRING),
                (11, 7) => (24, &["01:00 came twice and was read once"]),
                _ => (24, &[]),
            };
            assert_eq!((day.hours.len(), &*issues), expected, "{date}");
        }
    }
}

const SPRING: [&str; 2] =
    ["02:00 was left out by daylight saving (line 1732)", "03:00 has no reading"];

#[test]
fn a_validated_day_survives_json() {
    let raw = read_day(City::Seattle, Date::constant(2010, 3, 14)).unwrap();
    let day = validate_day(&raw).unwrap();
    let text = serde_json::to_string(&day).unwrap();
    assert_eq!(serde_json::from_str::<ValidatedDay>(&text).unwrap(), day);
}
