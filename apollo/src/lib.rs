//! Apollo: pipelines as annotated functions.

#[doc(hidden)]
pub mod __private;
mod check;
mod clock;
mod context;
mod digest;
mod disk;
mod explain;
mod graph;
mod id;
mod output;
mod params;
mod policy;
mod receive;
mod record;
mod returned;
mod state;
mod step;
mod suggest;
mod task;
mod time;

#[cfg(feature = "macros")]
pub use apollo_macros::{step, task};
pub use context::{Context, Inputs};
pub use graph::{Graph, GraphError, GraphStep};
pub use step::{Result, Step, StepError};
pub use task::{Registered, Task, TaskInfo};
