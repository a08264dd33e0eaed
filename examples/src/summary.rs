//! [`DaySummary`]: a day in four numbers, in degrees Celsius.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::city::City;
use crate::validate::ValidatedDay;

/// A day in four numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DaySummary {
    /// Where.
    pub city: City,
    /// The day.
    pub date: Date,
    /// How many hours have a reading.
    pub hours: usize,
    /// The lowest temperature.
    pub min_celsius: f64,
    /// The highest temperature.
    pub max_celsius: f64,
    /// The mean over the hours that have a reading.
    pub mean_celsius: f64,
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
        min_celsius: celsius().fold(f64::INFINITY, f64::min),
        max_celsius: celsius().fold(f64::NEG_INFINITY, f64::max),
        mean_celsius: hundredth(celsius().sum::<f64>() / count),
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
        let text = serde_json::to_string(&summary).unwrap();
        assert_eq!(
            text,
            r#"{"city":"seattle","date":"2010-07-04","hours":24,"min_celsius":13.0,"max_celsius":21.89,"mean_celsius":17.29}"#
        );
        assert_eq!(serde_json::from_str::<DaySummary>(&text).unwrap(), summary);
    }
}
