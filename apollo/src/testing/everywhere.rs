//! [`CrashEverywhere`]: a task killed wherever that makes a difference, and finished each time.
//!
//! It is not a judgement of the disk: the process that dies is played inside the test's own, and
//! no power is cut. What is judged are the steps.
//!
//! **Invariant:** every kill point begins with an empty directory, always of the same name, and with
//! the user's `setup`.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::left::{Difference, Left};
use super::mortal::Death;
use super::not_crash_safe::NotCrashSafe;
use super::point::KillPoint;
use super::scratch::Scratch;
use super::trial::Trial;
use crate::clock::{Clock, SimClock, SystemClock};
use crate::digest::canonical;
use crate::id::StepId;
use crate::options::RunOptions;
use crate::run::Summary;
use crate::task::Task;
use crate::time::Timestamp;

/// Kills a task everywhere and finishes it each time; [`CrashEverywhere`] with its defaults.
///
/// ```
/// use apollo::testing::crash_everywhere;
/// use apollo::{step, task};
///
/// #[step]
/// fn fetch() -> u64 {
///     7
/// }
///
/// #[step(depends_on = [fetch])]
/// fn double(fetch: &u64) -> u64 {
///     fetch * 2
/// }
///
/// task! { doubled { steps: [fetch, double] } }
///
/// // In a `#[test]`:
/// let survived = crash_everywhere(&doubled());
/// assert!(survived.points.len() > survived.records);
/// ```
///
/// # Panics
/// With the text of [`NotCrashSafe`]: which step is to blame, where the process was killed, what
/// is not the same, and what to do about it.
#[track_caller]
#[expect(clippy::panic, reason = "it is an assertion of a test")]
pub fn crash_everywhere(task: &Task) -> Survived {
    match CrashEverywhere::new(task).run() {
        Ok(survived) => survived,
        Err(error) => panic!("{error:?}"),
    }
}

/// Kills a task everywhere and finishes it each time, and compares what it left.
///
/// Wherever a process can die between two operations on the disk it dies once: before and after
/// the records of each commit, between the end of a body and its record, and in a body at every
/// call of its [`Context`](crate::Context) that writes, logs or tells the progress. A second run
/// finishes the task, and has to leave what an undisturbed run leaves: outputs, artifacts, files in
/// the working directory, the end of each step, and what [`observe`](Self::observe) returns.
///
/// The process that dies is played inside the test's own. So what a body keeps in memory survives;
/// a body is not killed between two effects without a call of its context between them; and a
/// [`Mutex`](std::sync::Mutex) that it holds in such a call is poisoned, as by a panic.
///
/// ```
/// use std::sync::Mutex;
///
/// use apollo::testing::CrashEverywhere;
/// use apollo::{Context, Result, step, task};
///
/// /// Stands for a table elsewhere.
/// static ROWS: Mutex<Vec<String>> = Mutex::new(Vec::new());
///
/// #[step]
/// fn load(ctx: &Context) -> Result<()> {
///     ctx.replace_tagged(
///         |tags| Ok(ROWS.lock()?.retain(|row| !tags.iter().any(|tag| *row == tag.to_string()))),
///         |tag| Ok(ROWS.lock()?.push(tag.to_string())),
///     )
/// }
///
/// task! { nightly { steps: [load] } }
///
/// CrashEverywhere::new(&nightly())
///     .setup(|| ROWS.lock().unwrap().clear())
///     .observe(|| ROWS.lock().unwrap().len())
///     .run()
///     .unwrap();
/// ```
#[must_use = "nothing is killed before `run`"]
pub struct CrashEverywhere<'a> {
    task: &'a Task,
    options: RunOptions,
    began: Timestamp,
    real_time: bool,
    every_byte: bool,
    at_most: u64,
    setup: Box<dyn Fn() + 'a>,
    observe: Box<dyn Fn() -> Option<Vec<u8>> + 'a>,
}

/// What a task came through.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survived {
    /// Where it was killed, each time in a run of its own, and finished.
    pub points: Vec<KillPoint>,
    /// How many records the log of the undisturbed run has.
    pub records: usize,
}

/// A clock whose waits take their time, and whose wall shows the same at the begin of each run: the
/// name of a run, which a step may return, has it.
#[derive(Debug)]
struct RealTime {
    began: Timestamp,
    since: SystemClock,
}

impl fmt::Debug for CrashEverywhere<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrashEverywhere").field("task", &self.task.name()).finish_non_exhaustive()
    }
}

impl<'a> CrashEverywhere<'a> {
    /// Kills one step at a time, at every operation, with waits that pass at once.
    pub fn new(task: &'a Task) -> Self {
        Self {
            task,
            options: RunOptions::new(),
            began: SystemClock::default().now(),
            real_time: false,
            every_byte: false,
            at_most: u64::MAX,
            setup: Box::new(|| {}),
            observe: Box::new(|| None),
        }
    }

    /// Begins with these options: parameters, skipped steps, how many steps at once (else one).
    /// Directory, disk and clock are replaced.
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Lets the waits of retries take their time.
    pub const fn real_time(mut self) -> Self {
        self.real_time = true;
        self
    }

    /// Also cuts each commit of the log behind every byte of it, as a power cut may. That is a
    /// point for each byte, of which every step adds a thousand.
    pub const fn every_byte(mut self) -> Self {
        self.every_byte = true;
        self
    }

    /// Kills at so many operations at most, evenly spread: for a task that has very many.
    pub const fn at_most(mut self, operations: u64) -> Self {
        self.at_most = operations;
        self
    }

    /// Makes the world outside new; called before each run, not before its resume.
    pub fn setup(mut self, setup: impl Fn() + 'a) -> Self {
        self.setup = Box::new(setup);
        self
    }

    /// Looks at the world outside after each run: what this returns has to be the same.
    ///
    /// # Panics
    /// When the value can't be written as JSON, in [`run`](Self::run).
    #[expect(clippy::expect_used, reason = "it is a mistake in a test")]
    pub fn observe<T: Serialize>(mut self, observe: impl Fn() -> T + 'a) -> Self {
        self.observe = Box::new(move || {
            let seen = serde_json::to_value(observe()).expect("what is observed becomes JSON");
            Some(canonical(&seen).into_bytes())
        });
        self
    }

    /// Runs the task undisturbed, twice, and then kills it at one point after the other.
    ///
    /// # Errors
    /// [`NotCrashSafe`] with the first point at which something went wrong; the directory of that
    /// run is kept, below the one for temporary files.
    pub fn run(&self) -> Result<Survived, NotCrashSafe> {
        let scratch = Scratch::new();
        self.run_in(&scratch).inspect_err(|_wrong| scratch.keep())
    }

    fn run_in(&self, scratch: &Scratch) -> Result<Survived, NotCrashSafe> {
        let undisturbed = self.trial(scratch, None, None)?;
        let summary = undisturbed.summary()?;
        let (expected, records) = (self.left(scratch, summary)?, undisturbed.story()?.records);
        self.compare(scratch, &expected, None, None)?;

        let stride = undisturbed.operations.div_ceil(self.at_most.max(1)).max(1);
        let (mut points, mut dies_at) = (Vec::new(), 1);
        while let Some(death) = self.compare(scratch, &expected, Some(dies_at), None)? {
            points.push(death.point);
            let appended = death.appended.filter(|_| self.every_byte);
            for kept_bytes in 1..appended.map_or(1, |commit| commit.bytes) {
                let torn = self.compare(scratch, &expected, Some(dies_at), Some(kept_bytes))?;
                points.extend(torn.map(|death| death.point));
            }
            dies_at += stride;
        }
        Ok(Survived { points, records })
    }

    /// Runs the task in a new world, and kills and finishes it where that is wanted.
    fn trial(
        &self,
        scratch: &Scratch,
        dies_at: Option<u64>,
        kept_bytes: Option<u64>,
    ) -> Result<Trial, NotCrashSafe> {
        scratch.renew().map_err(disk_error)?;
        (self.setup)();
        let clock: Arc<dyn Clock> = if self.real_time {
            Arc::new(RealTime { began: self.began, since: SystemClock::default() })
        } else {
            Arc::new(SimClock::new(self.began))
        };
        let options = self.options.clone().clock(clock);
        let trial = Trial::run(self.task, scratch.path(), options, dies_at, kept_bytes);
        trial.map_err(disk_error)
    }

    /// Makes a trial, and compares what it left with what it should have left; tells how it died.
    fn compare(
        &self,
        scratch: &Scratch,
        expected: &Left,
        dies_at: Option<u64>,
        kept_bytes: Option<u64>,
    ) -> Result<Option<Death>, NotCrashSafe> {
        let trial = self.trial(scratch, dies_at, kept_bytes)?;
        let (summary, story) = (trial.summary()?, trial.story()?);
        let point = trial.death.as_ref().map(|death| death.point.clone());
        let dir = scratch.path().to_owned();
        if let (Some(step), Some(point)) = (story.unasked, &point) {
            return Err(NotCrashSafe::RanAgain { step, point: point.clone(), dir });
        }
        let differences = expected.differences(&self.left(scratch, summary)?, self.task.graph());
        let Some(first) = differences.first() else { return Ok(trial.death) };
        let Some(point) = point.clone().filter(|_| !story.again.is_empty()) else {
            let difference = Box::new(first.clone());
            return Err(NotCrashSafe::NotDeterministic { point, difference, dir });
        };
        let own = |difference: &&Difference| {
            difference.step().is_some_and(|step| story.again.contains(step))
        };
        let of_no_step = |difference: &&Difference| difference.step().is_none();
        let (steps, difference) = match differences.iter().find(own) {
            Some(own) => (own.step().cloned().into_iter().collect(), own),
            None => (story.again, differences.iter().find(of_no_step).unwrap_or(first)),
        };
        let difference = Box::new(difference.clone());
        let probed = steps.iter().any(|step| self.has_probe(step));
        Err(NotCrashSafe::NotIdempotent { steps, point, difference, probed, dir })
    }

    fn left(&self, scratch: &Scratch, summary: &Summary) -> Result<Left, NotCrashSafe> {
        Left::collect(scratch.path(), summary, (self.observe)()).map_err(disk_error)
    }

    fn has_probe(&self, step: &StepId) -> bool {
        let index = self.task.graph().index_of(step.as_str());
        index.is_some_and(|index| self.task.runner(index).probe.is_some())
    }
}

impl Clock for RealTime {
    fn now(&self) -> Timestamp {
        self.began.after(self.since.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.since.monotonic()
    }

    fn block_for(&self, wait: Duration) -> Duration {
        self.since.block_for(wait)
    }
}

fn disk_error((path, source): (PathBuf, io::Error)) -> NotCrashSafe {
    NotCrashSafe::Disk { path, source }
}
