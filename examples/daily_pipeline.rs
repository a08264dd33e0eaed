//! The whole line on real data: a day of Seattle's hourly temperatures is fetched, validated,
//! tabulated as Parquet and announced.
//!
//! `--task-date 2010-03-14` is degraded: an hour is lost, and `notify`, which is optional,
//! announces whole days only. `--task-date 2011-01-01` fails: the file has no such day.

use std::io::Write as _;

use apollo::{Artifact, Context, Date, Result, StepError, step, task};
use apollo_examples::{City, DaySummary, RawDay, ReadError, ValidatedDay};
use apollo_examples::{announce, day_table, hours_table, post, read_day, summarize, validate_day};
use serde::{Deserialize, Serialize};

/// What `transform` leaves.
#[derive(Debug, Serialize, Deserialize)]
struct Tables {
    summary: DaySummary,
    hours: Artifact,
    day: Artifact,
}

/// Takes the day out of the year's file; a file that is away may come back.
#[step(retry(exponential, max = 3, delay = "500ms"))]
fn fetch_raw(#[param] task_date: &Date) -> Result<RawDay> {
    read_day(City::Seattle, *task_date).map_err(|error| match error {
        ReadError::Io { .. } => error.into(),
        wrong => StepError::permanent(wrong),
    })
}

/// Gives every reading its hour, by the clock of the place, and notes what is wrong.
#[step(depends_on = [fetch_raw])]
fn validate(fetch_raw: &RawDay) -> Result<ValidatedDay> {
    Ok(validate_day(fetch_raw)?)
}

/// Writes two tables: the hours in Celsius, and the day's aggregates.
#[step(depends_on = [validate])]
fn transform(ctx: &Context, validate: &ValidatedDay) -> Result<Tables> {
    let summary = summarize(validate);
    let save = |name: &str, table: Vec<u8>| -> Result<Artifact> {
        let mut artifact = ctx.artifact(name)?;
        artifact.write_all(&table)?;
        artifact.finish()
    };
    let hours = save("hours.parquet", hours_table(validate)?)?;
    let day = save("day.parquet", day_table(&summary)?)?;
    Ok(Tables { summary, hours, day })
}

/// Leaves a message in the outbox, once for each input.
#[step(depends_on = [transform], optional)]
fn notify(ctx: &Context, transform: &Tables) -> Result<()> {
    let message = announce(&transform.summary).map_err(StepError::permanent)?;
    let (outbox, key) = (ctx.work_dir()?.join("outbox"), ctx.idempotency_key());
    ctx.once(&key, || Ok(post(&outbox, &key, &message)?))?;
    Ok(())
}

task! {
    /// A day of temperatures, from the year's file to a message.
    daily_pipeline {
        params: {
            /// The day to work on.
            task_date: Date = "2010-07-04",
        },
        graph: include_str!("daily_pipeline.graph.txt"),
        steps: [fetch_raw, validate, transform, notify],
    }
}

apollo::main!(daily_pipeline);
