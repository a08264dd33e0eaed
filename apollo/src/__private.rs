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
pub use std::string::String;

pub use crate::check::{Judged, Judgement, Mistake, edges, judge, next, table};
pub use crate::context::{Context, Inputs};
pub use crate::explain::Message;
pub use crate::failure::StepError;
pub use crate::output::Output;
pub use crate::params::Params;
pub use crate::policy::{Backoff, Durability, Need, OnUnknown, Retry};
pub use crate::receive::{Delivery, ParamType, ParamValue, Receive, Refused, accepts_any};
pub use crate::returned::{
    Ask, AsyncSteps, Cleanup, Fails, FailsByBox, FailsByDisplay, FailsByNothing, HiddenResult,
    MustBePlain, PlainValue, Probe, ShapeOfAny, StepOutput, StepResult, ThisBuild, ViaBox,
    ViaDisplay, ViaItself, ViaNothing,
};
pub use crate::step::{
    Body, CleanupBody, Codec, Dependency, FILLER, FunctionBody, FutureBody, Optional, ParamUse,
    ProbeBody, Required, Runner, Step, StepFuture, StepInfo, StepRef, StepSpec,
};
pub use crate::task::{ParamInfo, Registered, Task, TaskInfo};
