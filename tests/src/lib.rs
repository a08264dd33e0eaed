//! The harness of the behaviour tests: directories, logs read from outside, child processes, and
//! the tasks that the tests run.
//!
//! It is not a second implementation: a log is parsed as JSON, and nothing of Apollo's reader is
//! used to judge what Apollo wrote.

pub mod child;
pub mod dir;
pub mod disk;
pub mod events;
pub mod folded;
pub mod fuzz;
pub mod log;
pub mod mutants;
pub mod pipelines;
pub mod simulation;
pub mod storm;
