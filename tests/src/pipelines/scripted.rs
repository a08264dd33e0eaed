//! Steps that do what a file says: `control/<step>` beside the Apollo directory.
//!
//! | in the file | the step |
//! | --- | --- |
//! | (no file) | succeeds |
//! | `fail` | fails |
//! | `fail N` | fails until its attempt number N |
//! | `permanent` | fails and says that no retry helps |
//! | `panic` | panics |
//! | `die` | kills its process |
//! | `hang` | waits until it is told to stop, or the file `<step>.go` is there |
//! | `deaf` | waits for `<step>.go` alone |
//!
//! Each attempt adds a line `step retry_count` to the file `ran`.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use apollo::{Context, Result, StepError, step, task};

use crate::child::until;

/// Where the directory of the test is.
///
/// # Errors
/// When the run has no folder.
pub fn home(ctx: &Context) -> Result<PathBuf> {
    let work = ctx.work_dir()?;
    Ok(work.ancestors().nth(3).expect("artifacts/<run> of .apollo of the test").to_owned())
}

/// Does what the file of the step says.
///
/// # Errors
/// Where it says so.
pub fn act(ctx: &Context) -> Result<()> {
    let home = home(ctx)?;
    let control = home.join("control");
    let script = fs::read_to_string(control.join(ctx.step_id())).unwrap_or_default();
    let mut ran = fs::File::options().create(true).append(true).open(home.join("ran"))?;
    ran.write_all(format!("{} {}\n", ctx.step_id(), ctx.retry_count()).as_bytes())?;
    let gone = control.join(format!("{}.go", ctx.step_id()));
    let mut words = script.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => Ok(()),
        (Some("fail"), None) => Err(StepError::new("as it was told")),
        (Some("fail"), Some(until)) if ctx.retry_count() >= until.parse::<u32>()? => Ok(()),
        (Some("fail"), Some(_)) => Err(StepError::new("not yet")),
        (Some("permanent"), _) => Err(StepError::permanent("for good")),
        (Some("panic"), _) => panic!("as it was told"),
        (Some("die"), _) => {
            let this = rustix::process::getpid();
            rustix::process::kill_process(this, rustix::process::Signal::KILL)?;
            until("the signal arrives", || None)
        }
        (Some("hang"), _) => until("somebody says stop or go", || {
            let stopped = ctx.is_cancelled().then(|| Err(StepError::new("was told to stop")));
            stopped.or_else(|| gone.exists().then_some(Ok(())))
        }),
        (Some("deaf"), _) => {
            until("somebody says go", || gone.exists().then_some(()));
            Ok(())
        }
        (Some(word), _) => Err(StepError::permanent(format!("no such script: {word}"))),
    }
}

/// Makes a step that does what its file says and returns its own name.
macro_rules! scripted {
    ($name:ident $(, $($option:tt)*)?) => {
        #[step($($($option)*)?)]
        fn $name(ctx: &Context) -> Result<String> {
            act(ctx)?;
            Ok(ctx.step_id().to_owned())
        }
    };
}

scripted!(a);
scripted!(b, depends_on = [a], retry(fixed, max = 2, delay = "1ms"));
scripted!(c, depends_on = [a]);
scripted!(d, depends_on = [a], optional, retry(exponential, max = 1, delay = "1ms"));
scripted!(e, depends_on = [b, c], optional);
scripted!(f, depends_on = [c, d]);
scripted!(g, depends_on = [e, f], retry(fixed, max = 1, delay = "1ms"));
scripted!(h, depends_on = [g, d]);

task! {
    /// Eight steps with two arms, retries and optional ones.
    pub diamond { steps: [a, b, c, d, e, f, g, h] }
}

scripted!(first);
scripted!(second, depends_on = [first]);
scripted!(third, depends_on = [second]);

task! {
    /// Three steps in a row.
    pub row { steps: [first, second, third] }
}

scripted!(before);
scripted!(patient, depends_on = [before], retry(exponential, max = 4, delay = "10s", cap = "25s"));
scripted!(after, depends_on = [patient]);

task! {
    /// One step waits long between its attempts.
    pub patience { steps: [before, patient, after] }
}

fn sweep(ctx: &Context) -> Result<()> {
    let home = home(ctx)?;
    let mut swept = fs::File::options().create(true).append(true).open(home.join("swept"))?;
    writeln!(swept, "{}", ctx.retry_count())?;
    if home.join("control/sweep.fail").exists() {
        return Err(StepError::new("the broom is broken"));
    }
    Ok(())
}

scripted!(dirty, cleanup = sweep, retry(fixed, max = 2, delay = "1ms"));

task! {
    /// A step that cleans up.
    pub cleaning { steps: [dirty] }
}

scripted!(one, durability = batch);
scripted!(two, depends_on = [one], durability = batch);
scripted!(three, depends_on = [two]);
scripted!(four, depends_on = [three]);

task! {
    /// Steps of both durabilities in a row.
    pub mixed { max_parallel: 1, steps: [one, two, three, four] }
}
