//! Doubles of the doors, for tests of pipelines: a disk that fails or kills, a clock that jumps.
//!
//! They stand in [`RunOptions::disk`](crate::RunOptions::disk) and
//! [`RunOptions::clock`](crate::RunOptions::clock); the engine runs on them unmodified.
//!
//! A pipeline that dies at every operation of the disk, one after the other, and is finished by a
//! second run each time:
//!
//! ```
//! use std::sync::Arc;
//!
//! use apollo::testing::{CrashDisk, Fault};
//! use apollo::{RealDisk, RunOptions, Status, step, task};
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
//! let dir = std::env::temp_dir().join(format!("apollo-testing-{}", std::process::id()));
//! let whole = CrashDisk::new(Arc::new(RealDisk), 0, Fault::Dead);
//! doubled().run(&RunOptions::new().dir(dir.join("whole")).disk(Arc::new(whole.clone()))).unwrap();
//! for at in 1..=whole.operations() {
//!     let options = RunOptions::new().dir(dir.join(at.to_string()));
//!     let disk = CrashDisk::new(Arc::new(RealDisk), at, Fault::Dead);
//!     drop(doubled().run(&options.clone().disk(Arc::new(disk))));
//!     assert_eq!(doubled().run(&options).unwrap().status, Status::Success, "dead at {at}");
//! }
//! # std::fs::remove_dir_all(&dir).unwrap();
//! ```
//!
//! The same on a disk in memory, which loses what a power cut may lose:
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

pub use crate::clock::SimClock;
pub use crate::disk::{
    Course, Crash, CrashDisk, CrashSpecError, Fault, Hook, HookDisk, Hooked, Op, Operation, SimDisk,
};
pub use log::{LogFound, RawLog, check_artifact_name, cut_message};
