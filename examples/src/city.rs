//! [`City`]: where the readings were taken.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A place whose temperatures are in `examples/data/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum City {
    /// Seattle; its file has the columns `date,temp`.
    Seattle,
    /// San Francisco; its file has the columns `temp,date`.
    SanFrancisco,
}

/// A text that names no city.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the data has `seattle` and `sf`")]
pub struct UnknownCity;

impl City {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seattle => "seattle",
            Self::SanFrancisco => "sf",
        }
    }

    /// The name in a text.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Seattle => "Seattle",
            Self::SanFrancisco => "San Francisco",
        }
    }

    /// The file with the year's readings.
    #[must_use]
    pub fn file(self) -> PathBuf {
        let name = match self {
            Self::Seattle => "seattle-temps.csv",
            Self::SanFrancisco => "sf-temps.csv",
        };
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
    }

    /// The IANA name of the time zone whose clock the stamps show.
    #[must_use]
    pub const fn zone(self) -> &'static str {
        match self {
            Self::Seattle | Self::SanFrancisco => "America/Los_Angeles",
        }
    }
}

impl fmt::Display for City {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for City {
    type Err = UnknownCity;

    fn from_str(text: &str) -> Result<Self, UnknownCity> {
        match text {
            "seattle" => Ok(Self::Seattle),
            "sf" => Ok(Self::SanFrancisco),
            _ => Err(UnknownCity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_city_is_read_as_it_is_shown() {
        for city in [City::Seattle, City::SanFrancisco] {
            assert_eq!(city.to_string().parse(), Ok(city));
            assert!(city.file().is_file());
        }
        assert_eq!("oslo".parse::<City>(), Err(UnknownCity));
    }
}
