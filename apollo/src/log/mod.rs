//! The log: an append-only file of records, which is the truth about a run.
//!
//! What it promises: a record whose commit returned synced is never lost and never changed; what a
//! crash leaves behind the last such record is found, kept beside and cut off, once; a log that was
//! damaged otherwise is refused with the place of the damage. [`UnsealedLog`] reads and judges,
//! [`UnsealedLog::seal`] makes the judged log one that can be appended to, [`LogWriter`] makes
//! records, and [`LogFile`] commits them. [`SnapshotWriter`] keeps what they add up to, so that a
//! long log need not be read from its start. [`Damage`] says what a damaged log costs, and
//! [`UnsealedLog::repair`] puts what is good of it in its place.
//!
//! It is not the meaning of the records (`replay`), nor the directory they are in (`store`).
//!
//! **Invariant:** a log is written by [`LogFile::commit`] and [`UnsealedLog::seal`] alone, and
//! replaced by [`UnsealedLog::repair`] alone.

mod beside;
mod lines;
mod chain;
mod snapshot;
mod reader;
mod damage;
mod forgotten;
mod writer;
mod file;
mod seal;
mod repair;
mod snapshot_writer;
#[cfg(feature = "cli")]
mod ends;

pub use damage::{Damage, LostStep};
pub(crate) use damage::{Examined, Finding};
#[cfg(feature = "cli")]
pub(crate) use ends::Ends;
pub use file::LogError;
pub(crate) use file::LogFile;
pub(crate) use forgotten::Forgotten;
pub use reader::ReadError;
#[cfg(any(feature = "cli", feature = "testing", test))]
pub(crate) use reader::Tail;
pub(crate) use reader::{Locked, Scan, UnsealedLog};
pub(crate) use seal::SealedTail;
pub(crate) use snapshot::Snapshot;
pub(crate) use snapshot_writer::SnapshotWriter;
pub(crate) use writer::{Batch, LogWriter, Sync};

#[cfg(test)]
mod tests;
