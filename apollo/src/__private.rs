//! The only names that an expansion of `#[step]` or `task!` may use; re-exports only.
//!
//! It is no API: a name here comes and goes with the version of `apollo-macros` that is pinned to
//! this one.

pub use core::option::Option;
pub use core::primitive::{bool, str, usize};
pub use core::result::Result;
pub use core::time::Duration;
pub use core::{column, concat, line, module_path, stringify};
pub use inventory;

pub use crate::check::{Judged, Judgement, edges, judge, next, table};
pub use crate::context::{Context, Inputs};
pub use crate::explain::Message;
pub use crate::output::Output;
pub use crate::params::Params;
pub use crate::policy::{Backoff, Durability, Need, OnUnknown, Retry};
pub use crate::receive::{ParamType, ParamValue, Receive, Refused, accepts_any};
pub use crate::returned::{
    Ask, AsyncSteps, Cleanup, FailsByBox, FailsByDisplay, FailsByNothing, Fails, MustBePlain,
    Probe, ShapeOfAny, StepOutput, StepResult, ThisBuild,
};
pub use crate::step::{
    Body, Codec, FILLER, Dependency, Optional, ParamUse, Required, Runner, Step, StepError, StepFuture,
    StepInfo, StepRef, StepSpec,
};
pub use crate::task::{ParamInfo, Registered, Task, TaskInfo};
