//! Apollo: pipelines as annotated functions.

mod id;
mod digest;
mod time;
mod policy;
mod state;
mod params;
mod output;
mod record;
mod context;
mod step;
mod graph;
mod task;
mod replay;
mod scheduler;
mod verdict;
mod opening;
mod cancel;
mod observer;
mod clock;
mod disk;
mod log;
mod store;
mod options;
mod executor;
mod engine;
