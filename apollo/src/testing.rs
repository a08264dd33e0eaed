//! Doubles of the doors, for tests of pipelines: a disk that fails or kills, a clock that jumps.
//!
//! They stand in [`RunOptions::disk`](crate::RunOptions) and [`RunOptions::clock`](crate::RunOptions);
//! the engine runs on them unmodified.

pub use crate::clock::{Clock, SimClock, SystemClock};
pub use crate::disk::{
    CrashDisk, CrashSpecError, Disk, DiskFile, Fault, FileSystem, Metadata, Open, RealDisk,
};
