//! Testing steps: one that is not idempotent is found before a crash finds it.
//!
//! `hasty` adds to a ledger, and a crash at the wrong moment makes it add twice. `careful` is the same
//! with a cleanup. In a program of yours this is a `#[test]`.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use apollo::testing::{CrashEverywhere, NotCrashSafe};
use apollo::{Context, Result, step, task};

/// Brings the day's temperatures.
#[step]
fn fetch() -> Vec<i32> {
    vec![17, 21, 19]
}

fn ledger(ctx: &Context) -> Result<PathBuf> {
    Ok(ctx.work_dir()?.join("ledger.csv"))
}

/// Adds them to the ledger, and counts its lines.
#[step(depends_on = [fetch])]
fn load(ctx: &Context, fetch: &[i32]) -> Result<usize> {
    let path = ledger(ctx)?;
    let mut file = fs::File::options().create(true).append(true).open(&path)?;
    for celsius in fetch {
        writeln!(file, "{celsius}")?;
    }
    Ok(fs::read_to_string(&path)?.lines().count())
}

task! {
    /// Trusts that it is never killed.
    hasty { steps: [fetch, load] }
}

/// Takes away what an attempt before left; may find nothing.
fn empty(ctx: &Context) -> Result<()> {
    match fs::remove_file(ledger(ctx)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[step(id = "load", depends_on = [fetch], cleanup = empty)]
fn load_again(ctx: &Context, fetch: &[i32]) -> Result<usize> {
    load(ctx, fetch)
}

task! {
    /// Begins again with what it had begun with.
    careful { steps: [fetch, load_again] }
}

fn main() -> Result<(), NotCrashSafe> {
    let found = CrashEverywhere::new(&hasty()).run().unwrap_err();
    println!("hasty: {found}\n");
    // `crash_everywhere(&careful())` is the same, and panics where this returns an error.
    let survived = CrashEverywhere::new(&careful()).run()?;
    println!("careful: as if nothing had been, killed at {} points", survived.points.len());
    Ok(())
}
