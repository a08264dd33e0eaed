//! Apollo: pipelines as annotated functions.

mod context;
mod digest;
mod graph;
mod id;
mod output;
mod params;
mod policy;
mod record;
mod state;
mod step;
mod task;
mod time;
