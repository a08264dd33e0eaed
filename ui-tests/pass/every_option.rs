//! A pipeline with most options, as a user would write it.

use apollo::{Context, step, task};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct RawFile(String);

/// Fetches.
#[step(retry = exponential)]
fn fetch_raw(ctx: &Context, #[param] task_date: &String) -> apollo::Result<RawFile> {
    let _ = ctx;
    Ok(RawFile(task_date.clone()))
}

#[step(depends_on = [fetch_raw], retry(exponential, max = 5, delay = "10s", cap = "5m", jitter), version = 2)]
fn validate(fetch_raw: &RawFile) -> Result<u32, String> {
    Ok(fetch_raw.0.len() as u32)
}

#[step(depends_on = [validate, fetch_raw as raw], optional, cleanup = undo, probe = asked, timeout = "10m")]
async fn enrich(raw: &RawFile, validate: &u32) -> u64 {
    u64::from(*validate) + raw.0.len() as u64
}

fn undo(_: &Context) -> Result<(), std::io::Error> {
    Ok(())
}

fn asked(_: &Context, key: &str) -> std::io::Result<bool> {
    Ok(key.is_empty())
}

#[step(depends_on = [enrich, validate])]
fn notify(enrich: Option<&u64>) {
    let _ = enrich;
}

task! {
    /// A day.
    pub daily {
        max_retries: 3, retry_delay: "10s", max_parallel: 4, durability: batch,
        params: { /// The day.
            task_date: String = "2010-07-04", secret token: String, limit: u32 = 10 },
        steps: [fetch_raw, validate, enrich, notify],
    }
}

fn main() {
    let task = daily();
    assert_eq!(task.graph().topological().len(), 4);
    assert_eq!(apollo::Task::registered().len(), 1);
}
