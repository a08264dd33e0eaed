//! The store: the directory `.apollo`, and where everything in it is.
//!
//! It is not the log's content (`log`), nor what a run means (`replay`): it knows names, locks,
//! outputs, artifacts, markers and captured lines.
//!
//! **Invariant:** a name in the directory is made of checked ids alone; what a record will say is
//! there is durable before the store says that it is done.

mod artifact;
mod capture;
mod directory;
mod lock;
mod marker;
mod output;
mod run;

pub(crate) use artifact::{ArtifactLost, Staged};
pub(crate) use directory::{Store, StoreError};
pub(crate) use lock::{Holder, Liveness, LockError, TaskLock};
pub(crate) use output::OutputLost;

#[cfg(test)]
mod tests;
