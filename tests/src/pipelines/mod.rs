//! The tasks that the tests run: small ones, each for a kind of behaviour.
//!
//! They are no examples of good pipelines: what a scripted step does is said by a file.

pub mod asynchronous;
pub mod changed;
pub mod control;
pub mod crashing;
pub mod scripted;
pub mod small;
pub mod thirty;
pub mod thousand;
