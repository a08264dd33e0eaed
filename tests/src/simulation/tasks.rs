//! The tasks of the scenarios: small, quick, and the same to the byte every time.
//!
//! They are no examples of good pipelines: each is there for what it makes the log and the disk do.

#![expect(clippy::too_many_arguments, reason = "a step takes what it depends on")]

use apollo::{Artifact, Context, Result, StepError, step, task};

use super::act::{Act, cleanup, probe};

/// Leaves a file of several pages and returns a value.
#[step]
fn fetch(ctx: &Context) -> Result<(u64, Artifact)> {
    let act = Act::begin(ctx)?;
    let table = act.leave("table.csv", &b"hour,celsius\n".repeat(700))?;
    act.done((7, table))
}

/// Reads the file; cleans up; tells somebody once.
#[step(depends_on = [fetch], cleanup = cleanup, probe = probe)]
fn load(ctx: &Context, fetch: &(u64, Artifact)) -> Result<String> {
    let act = Act::begin_cleaned(ctx)?;
    act.soil();
    let lines = act.read(&fetch.1)?.len() / 13;
    let note = act.leave("note.txt", format!("{lines} lines\n").as_bytes())?;
    act.once("loaded")?;
    act.tidy();
    act.done(format!("{lines} {}", note.bytes))
}

/// Returns nothing, so that its digest says it all.
#[step(depends_on = [load])]
fn close(ctx: &Context, load: &str) -> Result<()> {
    let act = Act::begin(ctx)?;
    if load != "700 10" {
        return Err(StepError::permanent(format!("`{load}` was loaded")));
    }
    act.done(())
}

task! {
    /// Three steps in a row: a file, a cleanup, an effect.
    pub chain { max_parallel: 1, steps: [fetch, load, close] }
}

task! {
    /// The same row, synced late; the start of the step with a cleanup is synced all the same.
    pub batch { max_parallel: 1, durability: batch, steps: [fetch, load, close] }
}

#[step]
fn root(ctx: &Context) -> Result<u64> {
    Act::begin(ctx)?.done(1)
}

#[step(depends_on = [root])]
fn left(ctx: &Context, root: &u64) -> Result<(u64, Artifact)> {
    let act = Act::begin(ctx)?;
    let file = act.leave("left.txt", b"left\n")?;
    act.done((root + 1, file))
}

#[step(depends_on = [root], probe = probe)]
fn right(ctx: &Context, root: &u64) -> Result<u64> {
    let act = Act::begin(ctx)?;
    act.once("told")?;
    act.done(root + 2)
}

#[step(depends_on = [left, right])]
fn join(ctx: &Context, left: &(u64, Artifact), right: &u64) -> Result<u64> {
    let act = Act::begin(ctx)?;
    let len = act.read(&left.1)?.len() as u64;
    act.done(left.0 + right + len)
}

task! {
    /// Two arms that meet again.
    pub diamond { steps: [root, left, right, join] }
}

macro_rules! arms {
    ($($arm:ident)*) => {
        $(
            #[step(depends_on = [root])]
            fn $arm(ctx: &Context, root: &u64) -> Result<String> {
                Act::begin(ctx)?.done(format!("{} {root}", stringify!($arm)))
            }
        )*

        #[step(depends_on = [$($arm),*])]
        fn gather(ctx: &Context $(, $arm: &str)*) -> Result<usize> {
            Act::begin(ctx)?.done([$($arm),*].iter().map(|text| text.len()).sum())
        }

        task! {
            /// Sixteen arms side by side.
            pub wide { steps: [root, $($arm),*, gather] }
        }
    };
}

arms!(w00 w01 w02 w03 w04 w05 w06 w07 w08 w09 w10 w11 w12 w13 w14 w15);

/// Fails once in a run, half way.
#[step(depends_on = [root], retry(fixed, max = 2, delay = "10s"), cleanup = cleanup)]
fn flaky(ctx: &Context, root: &u64) -> Result<(u64, Artifact)> {
    let act = Act::begin_cleaned(ctx)?;
    act.soil();
    let file = act.leave("half.txt", b"half\n")?;
    if ctx.retry_count() == 0 {
        return Err(StepError::new("the first attempt always fails"));
    }
    act.tidy();
    act.done((root + 10, file))
}

/// Fails twice in a run.
#[step(depends_on = [flaky], retry(exponential, max = 3, delay = "1s", cap = "5s"))]
fn stubborn(ctx: &Context, flaky: &(u64, Artifact)) -> Result<u64> {
    let act = Act::begin(ctx)?;
    if ctx.retry_count() < 2 {
        return Err(StepError::new("not yet"));
    }
    act.done(flaky.0 + 1)
}

task! {
    /// Steps that fail before they succeed.
    pub retry { max_parallel: 1, steps: [root, flaky, stubborn] }
}

/// Hangs at its first attempt.
#[step(depends_on = [root], timeout = "1ms", retry(fixed, max = 3, delay = "1s"), cleanup = cleanup)]
async fn sleeper(ctx: &Context, root: &u64) -> Result<u64> {
    let act = Act::begin_cleaned(ctx)?;
    act.soil();
    if ctx.retry_count() == 0 {
        std::future::pending::<()>().await;
    }
    act.tidy();
    act.done(root + 20)
}

#[step(depends_on = [sleeper])]
fn awake(ctx: &Context, sleeper: &u64) -> Result<u64> {
    Act::begin(ctx)?.done(sleeper + 1)
}

task! {
    /// An asynchronous step that reaches its timeout.
    pub timeout { max_parallel: 1, steps: [root, sleeper, awake] }
}

/// Never succeeds, and need not.
#[step(depends_on = [root], optional, retry(fixed, max = 1, delay = "1s"))]
fn doomed(ctx: &Context) -> Result<u64> {
    drop(Act::begin(ctx)?);
    Err(StepError::new("it never works"))
}

/// Goes without it.
#[step(depends_on = [root, doomed])]
fn anyway(ctx: &Context, root: &u64, doomed: Option<&u64>) -> Result<u64> {
    Act::begin(ctx)?.done(root + doomed.copied().unwrap_or(30))
}

task! {
    /// A step that fails for good and does no harm.
    pub optional { max_parallel: 1, steps: [root, doomed, anyway] }
}

/// Needs no value of the one before it, which can be left out.
#[step(depends_on = [left])]
fn after(ctx: &Context) -> Result<u64> {
    Act::begin(ctx)?.done(40)
}

task! {
    /// A step that is left out on request.
    pub skip { max_parallel: 1, steps: [root, left, after] }
}

#[step]
fn told(ctx: &Context, #[param] text: &str) -> Result<usize> {
    Act::begin(ctx)?.done(text.len())
}

#[step(depends_on = [told])]
fn echo(ctx: &Context, told: &usize) -> Result<usize> {
    Act::begin(ctx)?.done(*told)
}

task! {
    /// A header that does not fit into its line.
    pub spill { max_parallel: 1, params: { text: String }, steps: [told, echo] }
}
