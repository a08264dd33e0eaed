//! [`DaySummary`]: what there is to say about a day, in degrees Celsius.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::city::City;
use crate::validate::{Issue, ValidatedDay};

/// What there is to say about a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DaySummary {
    /// Where.
    pub city: City,
    /// The day.
    pub date: Date,
    /// How many hours have a reading.
    pub hours: usize,
    /// How many hours the day had.
    pub expected_hours: usize,
    /// The lowest temperature.
    pub min_celsius: f64,
    /// The highest temperature.
    pub max_celsius: f64,
    /// The mean over the hours that have a reading.
    pub mean_celsius: f64,
    /// What was wrong with it; empty for a whole day.
    pub issues: Vec<Issue>,
}

/// Converts degrees Fahrenheit into Celsius, to the hundredth.
#[must_use]
pub fn celsius(fahrenheit: f64) -> f64 {
    hundredth((fahrenheit - 32.0) * 5.0 / 9.0)
}

/// Sums a day up. A validated day has hours, so that there is a lowest and a highest.
#[must_use]
pub fn summarize(day: &ValidatedDay) -> DaySummary {
    let celsius = || day.hours.iter().map(|hour| celsius(hour.fahrenheit));
    let count: f64 = celsius().map(|_| 1.0).sum();
    DaySummary {
        city: day.city,
        date: day.date,
        hours: day.hours.len(),
        expected_hours: day.expected_hours,
        min_celsius: celsius().fold(f64::INFINITY, f64::min),
        max_celsius: celsius().fold(f64::NEG_INFINITY, f64::max),
        mean_celsius: hundredth(celsius().sum::<f64>() / count),
        issues: day.issues.clone(),
    }
}

/// Few digits, so that a value is the same after it was written down and read.
fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::read_day;
    use crate::validate::validate_day;

    #[test]
    fn the_fixed_points_of_both_scales_agree() {
        let pairs = [(32.0, 0.0), (212.0, 100.0), (-40.0, -40.0), (54.3, 12.39)];
        for (fahrenheit, expected) in pairs {
            assert!((celsius(fahrenheit) - expected).abs() < 1e-9, "{fahrenheit}");
        }
    }

    #[test]
    fn a_day_is_summed_up() {
        let raw = read_day(City::Seattle, Date::constant(2010, 7, 4)).unwrap();
        let summary = summarize(&validate_day(&raw).unwrap());
        let range = (summary.min_celsius, summary.max_celsius, summary.mean_celsius);
        assert_eq!((summary.hours, range), (24, (13.0, 21.89, 17.29)));
        let text = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<DaySummary>(&text).unwrap(), summary);
    }
}
