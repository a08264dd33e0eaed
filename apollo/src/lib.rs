//! Apollo: pipelines as annotated functions.
//!
//! Pipelines on one machine that finish whatever happens to them.
//!
//! A pipeline is a set of functions with `#[step]` and a list of them in `task!`. If the graph is
//! wrong, it does not compile. If the process dies, by `kill -9`, a power cut or a full disk,
//! starting it again finishes the work: nothing that was recorded as done is done again, what was
//! half done is cleaned up and redone. All that happened is in one append-only file of JSON lines.
//!
//! It is not a scheduler of dates, not a cluster, and not a data framework: one process on one
//! machine works on a run, and what a step returns is a value of yours.
//!
//! # A first pipeline
//!
//! ```
//! use apollo::{RunOptions, Status, step, task};
//!
//! /// Brings the numbers.
//! #[step]
//! fn fetch() -> Vec<u64> {
//!     vec![3, 4, 5]
//! }
//!
//! /// Adds them up.
//! #[step(depends_on = [fetch])]
//! fn total(fetch: &[u64]) -> u64 {
//!     fetch.iter().sum()
//! }
//!
//! task! {
//!     /// From numbers to their sum.
//!     sums { steps: [fetch, total] }
//! }
//!
//! # fn main() -> Result<(), apollo::RunError> {
//! # let dir = std::env::temp_dir().join(format!("apollo-guide-{}", std::process::id()));
//! let options = RunOptions::new().dir(&dir);
//! let summary = sums().run(&options)?;
//! assert_eq!(summary.status, Status::Success);
//!
//! // The same call again finds that the work is done, and runs nothing.
//! let again = sums().run(&options)?;
//! assert!(again.already_done);
//! assert_eq!(total(&[1, 2]), 3, "a step stays a function");
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! A program that is nothing but its pipeline has a `main` of one line, [`main!`], and with it the
//! commands `run`, `list`, `inspect`, `graph`, `check`, `verify`, `repair`, and the exit codes in
//! [`exit`].
//!
//! # Steps and their inputs
//!
//! `depends_on` holds paths of steps, of this module, another one or another crate. What the step
//! returns comes in by the parameter's name, as `&T` (`&str`, `&[T]` and `&Path` will do for a
//! `String`, a `Vec<T>` and a `PathBuf`); `depends_on = [other::load as raw]` gives it another
//! name. A dependency whose value is not wanted is simply not a parameter.
//!
//! - A step returns a value that serde can write and read, or a `Result` of one; `()` is a value,
//!   too. Dependents get the value as it was read back, so the first run and a resumed one see the
//!   same.
//! - An error is anything that can be shown. [`StepError::permanent`] says that a retry is no use.
//!   A panic is an error.
//! - `ctx: &Context` is the attempt: who it is, where its files go, whether it should stop:
//!   [`Context`].
//! - Big data does not go through values: write a file and return its [`Artifact`].
//!
//! # Optional steps
//!
//! An `optional` step may fail and the task succeeds without it, *degraded*. Those who use its
//! value have to take it as an `Option`, or it does not compile.
//!
//! ```
//! use apollo::{step, task};
//!
//! #[step(optional)]
//! fn forecast() -> Result<f64, String> {
//!     Err("no answer".to_owned())
//! }
//!
//! #[step(depends_on = [forecast])]
//! fn report(forecast: Option<&f64>) -> String {
//!     forecast.map_or("unknown".to_owned(), |celsius| format!("{celsius} C"))
//! }
//!
//! task! { weather { steps: [forecast, report] } }
//!
//! # fn main() -> Result<(), apollo::RunError> {
//! # let dir = std::env::temp_dir().join(format!("apollo-optional-{}", std::process::id()));
//! let summary = weather().run(&apollo::RunOptions::new().dir(&dir))?;
//! assert_eq!(summary.degraded.len(), 1);
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! # Parameters
//!
//! A task declares its parameters with types, and a step takes one with `#[param]`. Values come as
//! text, from `--task-date 2010-03-14` or [`RunOptions::param`], and are parsed before anything
//! runs. A task_id is the task's name and its parameters' values, so each value has runs of its
//! own. Parameters are frozen in the first header: a resume does not compute them again.
//!
//! ```
//! use apollo::{RunOptions, step, task};
//!
//! #[step]
//! fn greet(#[param] name: &str, #[param] times: &u32) -> String {
//!     format!("hello {name} ").repeat(*times as usize)
//! }
//!
//! task! {
//!     greeting {
//!         params: {
//!             /// Who is greeted.
//!             name: String,
//!             times: u32 = 2,
//!         },
//!         steps: [greet],
//!     }
//! }
//!
//! # fn main() -> Result<(), apollo::RunError> {
//! # let dir = std::env::temp_dir().join(format!("apollo-params-{}", std::process::id()));
//! let options = RunOptions::new().dir(&dir).param("name", "ada");
//! assert_eq!(greeting().run(&options)?.task_id.as_str(), "greeting-ada-2");
//! assert!(greeting().run(&options.param("times", "many")).is_err(), "`many` is no u32");
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! `secret token: String` declares one of which only the name is ever written down. It enters no
//! digest, and a resume has to be given it again.
//!
//! # Failing, retrying, being killed
//!
//! `retry = fixed` and `retry = exponential` take number and delay from the task, and
//! `retry(exponential, max = 5, delay = "10s", cap = "5m", jitter)` says them itself. Waits survive
//! a crash: only the rest is waited.
//!
//! An attempt that has any predecessor in the run begins with the step's `cleanup`, a function that
//! takes away what the other one may have left. It may run many times and find nothing.
//!
//! ```
//! use apollo::{Context, Result, step};
//!
//! fn drop_half_file(ctx: &Context) -> Result<()> {
//!     match std::fs::remove_file(ctx.work_dir()?.join("half.csv")) {
//!         Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
//!         _ => Ok(()),
//!     }
//! }
//!
//! #[step(retry(exponential, max = 5, delay = "10s", cap = "5m"), cleanup = drop_half_file)]
//! fn export(ctx: &Context) -> Result<()> {
//!     Ok(std::fs::write(ctx.work_dir()?.join("half.csv"), "a,b\n")?)
//! }
//! ```
//!
//! A log that was damaged on the disk is refused with its place. [`repair()`] keeps what is good of it.
//!
//! Effects outside happen at least once, like the body. Four helpers make that harmless:
//! [`Context::artifact`] (overwrite), [`Context::replace_tagged`] (delete by tag, write),
//! [`Context::once`] (a marker) and [`Context::idempotency_key`] (the other side knows it).
//!
//! # Asynchronous steps
//!
//! With the feature `async` a step may be an `async fn`. It runs on tokio, on its attempt's own
//! thread, so its future need not be `Send`; it is dropped at its `timeout` and when the run is
//! stopped. At most `max_parallel` steps run at once, of both kinds. From asynchronous code,
//! `Task::run_async` runs a task.
//!
//! # What a step and a task can say
//!
//! All options are listed with [`macro@step`] and [`task!`]. `isolate`, `command`, `limit` and
//! `when` are refused by name: they will come with a later version.
//!
//! # Testing a pipeline
//!
//! A step is a function: call it. A task runs in any directory ([`RunOptions::dir`]). With the
//! feature `testing`, `apollo::testing::crash_everywhere(&task)` kills a task at every operation and
//! names the step that does harm when it is done again; and there are doubles for the disk, which
//! fails or dies at the operation that a test chooses, and for the clock.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `macros` | yes | `#[step]` and `task!` |
//! | `cli` | yes | [`main!`], the command line, signals |
//! | `async` | no | steps that are `async fn`, on tokio, and `Task::run_async` |
//! | `testing` | no | the module `testing` |
//!
//! No feature changes a byte of the log.
//!
//! # What is guaranteed
//!
//! A body runs at least once, its success is recorded exactly once. A record that was acknowledged
//! is not lost by a crash or a power cut. A body starts after its start is durable, a dependent
//! after the ends of all that it needs are. A crash costs at most the attempts that were open. Two
//! processes never work on one run. If the log can't be written, the run stops. The log itself is
//! described, byte by byte, in `docs/format.md` of the repository.

mod id;
mod digest;
mod time;
mod policy;
mod state;
mod params;
mod output;
mod record;
mod suggest;
mod failure;
mod context;
mod step;
mod graph;
mod task;
mod check;
mod explain;
mod receive;
mod returned;
mod replay;
mod scheduler;
mod verdict;
mod opening;
#[cfg(feature = "cli")]
mod inspect;
mod cancel;
mod observer;
mod clock;
mod disk;
mod log;
mod store;
mod options;
mod program;
mod executor;
mod admission;
mod plan;
mod repair;
mod engine;
mod run;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "cli")]
mod cli;
#[macro_use]
mod entry;

#[doc(hidden)]
pub mod __private;

pub use admission::AdmissionError;
#[cfg(feature = "macros")]
pub use apollo_macros::{step, task};
pub use cancel::Cancel;
#[cfg(feature = "cli")]
pub use cli::{command_line, exit};
pub use clock::{Clock, SystemClock};
pub use context::{Artifact, ArtifactWriter, Context, Inputs};
pub use digest::{Digest, DigestError};
pub use disk::{Disk, DiskFile, FileSystem, Metadata, Open, RealDisk};
pub use engine::EngineError;
pub use failure::{Result, StepError};
pub use graph::{Graph, GraphError, GraphStep};
pub use id::{NameError, RunId, StepId, StepIndex, TaskId, TaskName};
/// A civil date, for parameters such as `task_date`.
pub use jiff::civil::Date;
pub use log::{Damage, LogError, LostStep, ReadError};
pub use observer::{Notice, Observer};
pub use opening::{Opening, Refusal};
pub use options::RunOptions;
pub use output::{Output, OutputError};
pub use params::{ParamError, Params};
pub use plan::Plan;
pub use policy::{Backoff, RetryPolicy};
pub use record::{
    ArtifactEntry, Attempt, Closing, Crc, End, Event, FailReason, Header, HeaderStep, Line,
    OpenReason, Record, RecordError, SCHEMA, Spill,
};
pub use repair::{RepairError, Repaired, plan_repair, repair};
pub use replay::{Contradiction, OpenAttempt, PendingRetry, RunState, StepState};
pub use run::{RunError, Summary};
pub use state::Status;
pub use step::{Optional, Required, Step};
pub use store::{Holder, LockError, StoreError};
pub use task::{Registered, Task, TaskInfo};
pub use time::{Timestamp, TimestampError};
pub use verdict::{StepVerdict, Verdict};

/// The examples of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
