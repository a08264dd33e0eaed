//! The store: the directory `.apollo`, and where everything in it is.
//!
//! It is not the log's content (`log`), nor what a run means (`replay`): it knows names, locks,
//! outputs, artifacts, markers and captured lines.
//!
//! **Invariant:** a name in the directory is made of checked ids alone; what a record will say is
//! there is durable before the store says that it is done.

mod directory;
mod lost;
mod artifact;
mod capture;
mod lock;
mod marker;
mod output;
mod run;

pub(crate) use artifact::Staged;
#[cfg(feature = "testing")]
pub(crate) use artifact::check_artifact_name;
pub(crate) use directory::Store;
pub use directory::StoreError;
pub use lock::{Holder, LockError};
pub(crate) use lock::{Liveness, TaskLock};
#[cfg(test)]
pub(crate) use lost::Lost;

#[cfg(test)]
mod tests;
