//! Apollo: pipelines as annotated functions.

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

pub use admission::{AdmissionError, Plan};
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
pub use log::{LogError, ReadError};
pub use observer::{Notice, Observer};
pub use opening::{Opening, Refusal};
pub use options::RunOptions;
pub use output::{Output, OutputError};
pub use params::{ParamError, Params};
pub use policy::{Backoff, RetryPolicy};
pub use record::{
    ArtifactEntry, Attempt, Closing, Crc, End, Event, FailReason, Header, HeaderStep, Line,
    OpenReason, Record, RecordError, SCHEMA, Spill,
};
pub use replay::{Contradiction, OpenAttempt, PendingRetry, RunState, StepState};
pub use run::{RunError, Summary};
pub use state::Status;
pub use step::{Optional, Required, Step};
pub use store::{Holder, LockError, StoreError};
pub use task::{Registered, Task, TaskInfo};
pub use time::{Timestamp, TimestampError};
pub use verdict::{StepVerdict, Verdict};
