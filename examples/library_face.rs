//! The library face: a task run from a program of its own, without Apollo's command line.
//!
//! The first call does the work, the second finds it done.

use std::error::Error;
use std::sync::Arc;

use apollo::{Context, Notice, Observer, RunOptions, step, task};

/// Hears what the run tells; here, only the lines of the steps.
#[derive(Debug)]
struct Lines;

impl Observer for Lines {
    fn notice(&self, notice: Notice<'_>) {
        if let Notice::Line { step, line } = notice {
            println!("{step}: {line}");
        }
    }
}

/// Finds the primes below a limit.
#[step]
fn primes(#[param] limit: &u32) -> Vec<u32> {
    (2..*limit).filter(|n| (2..*n).all(|divisor| n % divisor != 0)).collect()
}

/// Adds them up.
#[step(depends_on = [primes])]
fn sum(ctx: &Context, primes: &[u32]) -> u32 {
    let sum = primes.iter().sum();
    ctx.log(format_args!("{} primes, {sum} together", primes.len()));
    sum
}

task! {
    /// Primes, added up.
    sum_of_primes {
        params: {
            /// Primes are looked for below it.
            limit: u32 = "100",
        },
        steps: [primes, sum],
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = RunOptions::new().observer(Arc::new(Lines)).param("limit", "1000").fresh();
    let summary = sum_of_primes().run(&options)?;
    println!("{}: {} attempts", summary.task_id, summary.attempts);

    let again = RunOptions::new().param("limit", "1000");
    let summary = sum_of_primes().run(&again)?;
    println!("{}: {} attempts, done before", summary.task_id, summary.attempts);
    Ok(())
}
