//! Steps for pipelines in other crates: a day of any city is fetched, judged and summed up.
//!
//! They ask the task for the parameters `city` and `task_date`.

use apollo::{Result, StepError, step};
use jiff::civil::Date;

use crate::{City, DaySummary, RawDay, ReadError, ValidatedDay};

/// Takes the day out of the city's file.
#[step(retry(fixed, max = 2, delay = "500ms"))]
pub fn fetch_day(#[param] city: &City, #[param] task_date: &Date) -> Result<RawDay> {
    crate::read_day(*city, *task_date).map_err(|error| match error {
        ReadError::Io { .. } => error.into(),
        wrong => StepError::permanent(wrong),
    })
}

/// Gives every reading its hour and notes what is wrong.
#[step(depends_on = [fetch_day])]
pub fn judge_day(fetch_day: &RawDay) -> Result<ValidatedDay> {
    Ok(crate::validate_day(fetch_day)?)
}

/// Sums the day up.
#[step(depends_on = [judge_day])]
pub fn sum_up(judge_day: &ValidatedDay) -> DaySummary {
    crate::summarize(judge_day)
}
