//! Async steps run at once: three stations take half a second each, and so do all three together.

use std::time::Duration;

use apollo::{Context, Date, Result, step, task};
use apollo_examples::{City, read_day, summarize, validate_day};
use tokio::time::sleep;

/// Stands for a slow network: waiting costs no thread.
async fn warmest(city: City, date: Date) -> Result<f64> {
    sleep(Duration::from_millis(500)).await;
    Ok(summarize(&validate_day(&read_day(city, date)?)?).max_celsius)
}

/// Asks the first station.
#[step]
async fn seattle(#[param] task_date: &Date) -> Result<f64> {
    warmest(City::Seattle, *task_date).await
}

/// Asks the second station.
#[step]
async fn san_francisco(#[param] task_date: &Date) -> Result<f64> {
    warmest(City::SanFrancisco, *task_date).await
}

/// Asks a third one, which does nothing but answer late.
#[step]
async fn greenland() -> f64 {
    sleep(Duration::from_millis(500)).await;
    -3.5
}

/// Runs when all three have answered; a plain function among async ones.
#[step(depends_on = [seattle, san_francisco, greenland])]
fn warmer(ctx: &Context, seattle: &f64, san_francisco: &f64, greenland: &f64) -> String {
    let mut places =
        [("Seattle", seattle), ("San Francisco", san_francisco), ("Greenland", greenland)];
    places.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let [(first, most), ..] = places;
    let text = format!("{first} was warmest: {most} C");
    ctx.log(&text);
    text
}

task! {
    /// Compares three places.
    async_parallel {
        max_parallel: 3,
        params: {
            /// The day.
            task_date: Date = "2010-07-04",
        },
        steps: [seattle, san_francisco, greenland, warmer],
    }
}

apollo::main!(async_parallel);
