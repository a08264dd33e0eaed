//! For tests of pipelines: [`crash_everywhere`] kills a task wherever that makes a difference, and
//! says which of its steps is not idempotent. Beside it stand the doubles of the doors: a disk that
//! fails or kills, one in memory, a clock that jumps.
//!
//! It is not for programs: nothing here promises that anything lasts.
//!
//! The doubles stand in [`RunOptions::disk`](crate::RunOptions::disk) and
//! [`RunOptions::clock`](crate::RunOptions::clock); the engine runs on them unmodified. A disk in
//! memory, which dies at every operation and loses what a power cut may lose:
//!
//! ```
//! use std::sync::Arc;
//!
//! use apollo::testing::{Fault, SimClock, SimDisk};
//! use apollo::{RunOptions, Status, Timestamp, step, task};
//!
//! #[step]
//! fn fetch() -> u64 {
//!     7
//! }
//!
//! #[step(depends_on = [fetch])]
//! fn double(fetch: &u64) -> u64 {
//!     fetch * 2
//! }
//!
//! task! { doubled { steps: [fetch, double] } }
//!
//! let run = |disk: &SimDisk| {
//!     let clock = SimClock::new(Timestamp::from_unix_us(1_278_201_600_000_000));
//!     let options = RunOptions::new().dir("/.apollo").disk(Arc::new(disk.clone()));
//!     doubled().run(&options.clock(Arc::new(clock)))
//! };
//! let whole = SimDisk::new(0);
//! run(&whole).unwrap();
//! for at in 1..=whole.operations() {
//!     let disk = SimDisk::new(at);
//!     disk.fault(at, Fault::Dead);
//!     drop(run(&disk));
//!     assert_eq!(run(&disk.cut_power()).unwrap().status, Status::Success, "cut at {at}");
//! }
//! ```

mod log;
mod point;
mod mortal;
mod scratch;
mod left;
mod story;
mod not_crash_safe;
mod trial;
mod everywhere;

pub use crate::clock::SimClock;
pub use crate::disk::{
    Course, Crash, CrashDisk, CrashSpecError, Fault, Hook, HookDisk, Hooked, Op, Operation, SimDisk,
};
pub use everywhere::{CrashEverywhere, Survived, crash_everywhere};
pub use left::Difference;
pub use log::{LogFound, RawLog, check_artifact_name, cut_message};
pub use not_crash_safe::NotCrashSafe;
pub use point::KillPoint;
