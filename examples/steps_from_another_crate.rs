//! Steps are items like any other: these come from the crate `apollo_examples`, by path, and the
//! last one of this file depends on one of them.
//!
//! The compiler checks the graph across the crates. `--city seattle` works on the other file.

use apollo::{Context, Date, step, task};
use apollo_examples::steps::{self, sum_up};
use apollo_examples::{City, DaySummary};

/// Says what kind of day it was.
#[step(depends_on = [sum_up])]
fn describe(ctx: &Context, sum_up: &DaySummary) -> String {
    let kind = match sum_up.max_celsius {
        ..0.0 => "a frosty",
        ..15.0 => "a cool",
        ..25.0 => "a mild",
        _ => "a hot",
    };
    let text = format!("{} was {kind} day in {}", sum_up.date, sum_up.city.title());
    ctx.log(&text);
    text
}

task! {
    /// A day in a city, described.
    steps_from_another_crate {
        params: {
            /// Where: `sf` or `seattle`.
            city: City = "sf",
            /// The day.
            task_date: Date = "2010-07-04",
        },
        steps: [steps::fetch_day, steps::judge_day, sum_up, describe],
    }
}

apollo::main!(steps_from_another_crate);
