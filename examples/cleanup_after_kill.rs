//! Cleanup: half-done work is taken away before it is done again.
//!
//! `fill` appends to a file, so that doing it again would leave lines twice. Kill the program while
//! it runs (`kill -9`) and start it again: `empty` removes the half file first, and `count` finds
//! each line once.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::thread::sleep;
use std::time::Duration;

use apollo::{Context, Result, StepError, step, task};

const LINES: usize = 20;

/// Takes away what an attempt before this one left; may find nothing.
fn empty(ctx: &Context) -> Result<()> {
    match fs::remove_file(ctx.work_dir()?.join("ledger.txt")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Appends line by line, slowly.
#[step(cleanup = empty)]
fn fill(ctx: &Context) -> Result<()> {
    let path = ctx.work_dir()?.join("ledger.txt");
    let mut ledger = fs::File::options().create(true).append(true).open(path)?;
    for line in 1..=LINES {
        if ctx.is_cancelled() {
            return Err(StepError::new("stopped"));
        }
        writeln!(ledger, "line {line}")?;
        ctx.progress(line as u64, LINES as u64);
        sleep(Duration::from_millis(100));
    }
    Ok(ledger.sync_all()?)
}

/// Fails unless each line is there once.
#[step(depends_on = [fill])]
fn count(ctx: &Context) -> Result<usize> {
    let ledger = fs::read_to_string(ctx.work_dir()?.join("ledger.txt"))?;
    let found: Vec<&str> = ledger.lines().collect();
    let expected: Vec<String> = (1..=LINES).map(|line| format!("line {line}")).collect();
    if found != expected {
        return Err(StepError::permanent(format_args!("{} lines, not {LINES}", found.len())));
    }
    Ok(found.len())
}

task! {
    /// Appends to a file and counts its lines.
    cleanup_after_kill {
        steps: [fill, count],
    }
}

apollo::main!(cleanup_after_kill);
