//! Executors: they run a step's body and give back what came of it.
//!
//! They are not writers: what an attempt returns is a value, and the engine records it.
//!
//! **Invariant:** an executor never sees the log.

pub(crate) mod function;
#[cfg(feature = "async")]
pub(crate) mod future;
pub(crate) mod workspace;
pub(crate) mod attempt;
