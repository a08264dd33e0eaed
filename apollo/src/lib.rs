//! Apollo: pipelines as annotated functions.

mod clock;
mod context;
mod digest;
mod disk;
mod graph;
mod id;
mod log;
mod output;
mod params;
mod policy;
mod record;
mod state;
mod step;
mod store;
mod task;
mod time;
