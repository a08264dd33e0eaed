//! A task with everything that leaves something on the disk, deterministic to the byte.

use std::fs;
use std::io::Write as _;

use apollo::{Artifact, Context, Result, StepError, step, task};

use super::scripted::home;

/// Leaves two files and says where they are.
#[step]
fn fetch(ctx: &Context) -> Result<(Artifact, Artifact)> {
    let mut table = ctx.artifact("table.csv")?;
    for line in 0..2_000 {
        writeln!(table, "{line},{}", line * line)?;
    }
    let table = table.finish()?;
    let mut note = ctx.artifact("note.txt")?;
    note.write_all(b"two thousand lines\n")?;
    Ok((table, note.finish()?))
}

/// Fails at its first attempt of each run.
#[step(depends_on = [fetch], retry(fixed, max = 3, delay = "1ms"))]
fn parse(ctx: &Context, fetch: &(Artifact, Artifact)) -> Result<u64> {
    let text = fs::read_to_string(ctx.artifact_path(&fetch.0)?)?;
    if ctx.retry_count() == 0 {
        return Err(StepError::new("the first attempt always fails"));
    }
    Ok(text.lines().filter_map(|line| line.split(',').nth(1)?.parse::<u64>().ok()).sum())
}

/// Never succeeds, and need not.
#[step(depends_on = [fetch], optional)]
fn enrich() -> Result<u64> {
    Err(StepError::permanent("there is nothing to enrich with"))
}

fn empty(ctx: &Context) -> Result<()> {
    match fs::remove_file(home(ctx)?.join("ledger")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Appends to a file of its own, and so needs a cleanup.
#[step(depends_on = [parse, enrich], cleanup = empty)]
fn load(ctx: &Context, parse: &u64, enrich: Option<&u64>) -> Result<Vec<u64>> {
    let path = home(ctx)?.join("ledger");
    let mut ledger = fs::File::options().create(true).append(true).open(path)?;
    for line in 0..10 {
        writeln!(ledger, "{line} {parse} {enrich:?}")?;
    }
    Ok(vec![*parse, 10])
}

fn was_told(ctx: &Context, key: &str) -> Result<bool> {
    Ok(home(ctx)?.join(format!("told-{key}")).exists())
}

/// Tells somebody once; the message counts how often it came.
#[step(depends_on = [load], probe = was_told)]
fn tell(ctx: &Context, load: &Vec<u64>) -> Result<()> {
    ctx.log(format_args!("telling of {load:?}"));
    let path = home(ctx)?.join("told-all");
    ctx.once("all", || {
        let mut told = fs::File::options().create(true).append(true).open(&path)?;
        Ok(writeln!(told, "told")?)
    })?;
    Ok(())
}

task! {
    /// Files, outputs, a retry, a failure that does no harm, a cleanup, an effect.
    pub crashing { max_parallel: 1, steps: [fetch, parse, enrich, load, tell] }
}
