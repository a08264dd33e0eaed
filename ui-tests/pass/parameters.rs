//! Parameters of a task: types of its own, documentation, defaults, secrets.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use apollo::{step, task};

#[derive(Debug, Clone, Copy)]
pub struct Percent(u8);

impl FromStr for Percent {
    type Err = ParseIntError;
    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.trim_end_matches('%').parse().map(Self)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

#[step]
fn fetch(#[param] day: &apollo::Date, #[param] limit: &u64, #[param] share: &Percent) -> u64 {
    limit * u64::from(share.0) + u64::from(day.day().unsigned_abs())
}

#[step]
fn login(#[param] _token: &String) {}

task! {
    daily {
        params: {
            /// The day.
            ///
            /// In the calendar of the place.
            day: apollo::Date = "2010-07-04",
            limit: u64 = 1_000,
            share: Percent = "50%",
            offset: i32 = -5,
            exact: bool = true,
            factor: f64 = 1.5,
            letter: char = 'x',
            secret token: String,
            secret: String,
        },
        steps: [fetch, login],
    }
}

fn main() {
    let params = daily().info().params;
    assert_eq!(params[0].doc, "The day.\n\nIn the calendar of the place.");
    assert_eq!(params[1].default, Some("1000"));
    assert_eq!(params[3].default, Some("-5"));
    assert_eq!((params[2].normalize)("7"), Ok("7%".to_owned()));
    assert!(params[7].secret && !params[8].secret);
}
