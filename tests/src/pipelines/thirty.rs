//! Thirty steps, eight at once, with everything that leaves something behind, deterministic to the
//! byte; and three in a row with the same habits.
//!
//! What a step leaves outside of Apollo it syncs itself, so that it survives a power cut like the
//! record that says so.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use apollo::{Artifact, Context, Result, StepError, step, task};

use super::scripted::home;

/// What an arm adds up, and how many lines it entered.
type Sums = Vec<u64>;

/// Syncs a file that was written outside, and its name.
fn keep(file: &File, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// Leaves a table.
fn fetch(ctx: &Context) -> Result<Artifact> {
    let mut table = ctx.artifact("table.csv")?;
    for line in 0..300_u64 {
        writeln!(table, "{line},{}", line * ctx.step_id().len() as u64)?;
    }
    table.finish()
}

/// Adds a table up.
fn sum(ctx: &Context, table: &Artifact) -> Result<u64> {
    let text = fs::read_to_string(ctx.artifact_path(table)?)?;
    Ok(text.lines().filter_map(|line| line.split(',').nth(1)?.parse::<u64>().ok()).sum())
}

/// Empties the step's ledger, so that it is not appended to twice.
fn empty(ctx: &Context) -> Result<()> {
    match fs::remove_file(home(ctx)?.join(format!("ledger-{}", ctx.step_id()))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Appends to a ledger of its own.
fn enter(ctx: &Context, sum: u64) -> Result<Sums> {
    let path = home(ctx)?.join(format!("ledger-{}", ctx.step_id()));
    let mut ledger = File::options().create(true).append(true).open(&path)?;
    let lines: Vec<_> = (0..10).map(|line| format!("{line} {sum}\n")).collect();
    ledger.write_all(lines.concat().as_bytes())?;
    keep(&ledger, &path)?;
    Ok(vec![sum, 10])
}

const MESSAGE: &[u8] = b"told\n";

fn was_told(ctx: &Context, _key: &str) -> Result<bool> {
    let told = fs::read(home(ctx)?.join(format!("told-{}", ctx.step_id()))).unwrap_or_default();
    Ok(told.starts_with(MESSAGE))
}

/// Tells somebody once; the file counts how often.
fn once(ctx: &Context) -> Result<()> {
    let path = home(ctx)?.join(format!("told-{}", ctx.step_id()));
    ctx.once("all", || {
        let mut told = File::options().create(true).append(true).open(&path)?;
        // What a kill or a power cut left of a message is none.
        if told.metadata()?.len() % MESSAGE.len() as u64 != 0 || !was_told(ctx, "all")? {
            told.set_len(0)?;
        }
        let before_bytes = told.metadata()?.len();
        let kept = told.write_all(MESSAGE).and_then(|()| keep(&told, &path));
        if kept.is_err() {
            // An effect that fails has not happened.
            told.set_len(before_bytes)?;
        }
        Ok(kept?)
    })?;
    Ok(())
}

/// One arm: a file, a retry, a failure that does no harm, a cleanup, an effect.
macro_rules! arm {
    ($fetch:ident $parse:ident $enrich:ident $load:ident $tell:ident) => {
        #[step]
        fn $fetch(ctx: &Context) -> Result<Artifact> {
            fetch(ctx)
        }

        #[step(depends_on = [$fetch], retry(fixed, max = 3, delay = "1ms"))]
        fn $parse(ctx: &Context, $fetch: &Artifact) -> Result<u64> {
            if ctx.retry_count() == 0 {
                return Err(StepError::new("the first attempt always fails"));
            }
            sum(ctx, $fetch)
        }

        #[step(depends_on = [$fetch], optional)]
        fn $enrich() -> Result<u64> {
            Err(StepError::permanent("there is nothing to enrich with"))
        }

        #[step(depends_on = [$parse, $enrich], cleanup = empty)]
        fn $load(ctx: &Context, $parse: &u64, $enrich: Option<&u64>) -> Result<Sums> {
            enter(ctx, $parse + $enrich.copied().unwrap_or(0))
        }

        #[step(depends_on = [$load], probe = was_told)]
        fn $tell(ctx: &Context) -> Result<()> {
            once(ctx)
        }
    };
}

arm!(fetch_a parse_a enrich_a load_a tell_a);
arm!(fetch_b parse_b enrich_b load_b tell_b);
arm!(fetch_c parse_c enrich_c load_c tell_c);
arm!(fetch_d parse_d enrich_d load_d tell_d);
arm!(fetch_e parse_e enrich_e load_e tell_e);

/// A step that needs two arms.
macro_rules! both {
    ($both:ident $one:ident $other:ident) => {
        #[step(depends_on = [$one, $other])]
        fn $both($one: &Sums, $other: &Sums) -> Sums {
            [$one.as_slice(), $other].concat()
        }
    };
}

both!(both_ab load_a load_b);
both!(both_bc load_b load_c);
both!(both_cd load_c load_d);
both!(both_de load_d load_e);

#[step(depends_on = [both_ab, both_bc, both_cd, both_de, tell_a, tell_b, tell_c, tell_d, tell_e])]
fn total(both_ab: &Sums, both_bc: &Sums, both_cd: &Sums, both_de: &Sums) -> u64 {
    [both_ab, both_bc, both_cd, both_de].into_iter().flatten().sum()
}

task! {
    /// Five arms, joined two by two and then all.
    pub thirty {
        max_parallel: 8,
        steps: [
            fetch_a, parse_a, enrich_a, load_a, tell_a,
            fetch_b, parse_b, enrich_b, load_b, tell_b,
            fetch_c, parse_c, enrich_c, load_c, tell_c,
            fetch_d, parse_d, enrich_d, load_d, tell_d,
            fetch_e, parse_e, enrich_e, load_e, tell_e,
            both_ab, both_bc, both_cd, both_de,
            total,
        ],
    }
}

/// The steps that [`thirty`] can't do without.
pub const REQUIRED_OF_THIRTY: [&str; 25] = [
    "fetch_a", "parse_a", "load_a", "tell_a", "fetch_b", "parse_b", "load_b", "tell_b", "fetch_c",
    "parse_c", "load_c", "tell_c", "fetch_d", "parse_d", "load_d", "tell_d", "fetch_e", "parse_e",
    "load_e", "tell_e", "both_ab", "both_bc", "both_cd", "both_de", "total",
];

#[step]
fn pull(ctx: &Context) -> Result<Artifact> {
    fetch(ctx)
}

#[step(depends_on = [pull], cleanup = empty)]
fn book(ctx: &Context, pull: &Artifact) -> Result<Sums> {
    enter(ctx, sum(ctx, pull)?)
}

#[step(depends_on = [book], probe = was_told)]
fn notify(ctx: &Context, book: &Sums) -> Result<u64> {
    once(ctx)?;
    Ok(book.iter().sum())
}

task! {
    /// A file, a cleanup and an effect, one after the other.
    pub three { max_parallel: 1, steps: [pull, book, notify] }
}

/// The steps of [`three`].
pub const OF_THREE: [&str; 3] = ["pull", "book", "notify"];
