//! Apollo: pipelines as annotated functions.

mod context;
mod digest;
mod graph;
mod id;
mod output;
mod params;
mod policy;
mod record;
mod replay;
mod scheduler;
mod clock;
mod disk;
mod state;
mod step;
mod task;
mod time;
