//! Doubles of the doors, for tests of pipelines: a disk that fails or kills, a clock that jumps.
//!
//! They stand in [`RunOptions::disk`](crate::RunOptions::disk) and
//! [`RunOptions::clock`](crate::RunOptions::clock); the engine runs on them unmodified.

pub use crate::clock::SimClock;
pub use crate::disk::{CrashDisk, CrashSpecError, Fault};
