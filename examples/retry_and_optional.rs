//! Retries and optional steps: one step works at its third attempt, one never does, and the task
//! still succeeds, degraded.

use apollo::{Context, Result, StepError, step, task};

/// Answers at the third attempt.
#[step(retry(fixed, max = 3, delay = "100ms"))]
fn measure(ctx: &Context) -> Result<f64> {
    match ctx.retry_count() {
        0 | 1 => Err(StepError::new("the sensor does not answer")),
        _ => Ok(17.3),
    }
}

/// Never answers; `permanent` says that asking again is no use.
#[step(optional, retry = exponential)]
fn forecast() -> Result<f64> {
    Err(StepError::permanent("the forecast has moved away"))
}

/// Takes what there is: a value of an optional step comes as an `Option`.
#[step(depends_on = [measure, forecast])]
fn report(ctx: &Context, measure: &f64, forecast: Option<&f64>) -> String {
    let next = forecast.map_or_else(|| "unknown".to_owned(), |value| format!("{value} C"));
    let text = format!("now {measure} C, tomorrow {next}");
    ctx.log(&text);
    text
}

task! {
    /// Succeeds without its forecast.
    retry_and_optional {
        max_retries: 2,
        retry_delay: "100ms",
        steps: [measure, forecast, report],
    }
}

apollo::main!(retry_and_optional);
