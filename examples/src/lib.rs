//! The domain code of the examples: a day of hourly temperatures is read, judged, and tabulated.
//!
//! It is plain Rust, testable without a pipeline; the examples are the steps around it.
//! `steps` alone knows Apollo: it has steps for pipelines that live in other crates.

mod city;
mod clock;
mod notice;
mod reading;
pub mod steps;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod validate;

pub use city::{City, UnknownCity};
pub use clock::{ClockError, Hour, hours_of};
pub use notice::{NotWhole, announce, post};
pub use reading::{RawDay, ReadError, Reading, read_day, read_day_from};
pub use summary::{DaySummary, celsius, summarize};
pub use table::{TableError, day_table, hours_table};
pub use validate::{Issue, ValidHour, ValidateError, ValidatedDay, validate_day};
