//! [`Observer`]: what a run tells while it goes.
//!
//! It is not the log: an observer hears of a record after it was committed, and can't change it.

use std::fmt;
use std::path::Path;

use crate::record::Record;

/// Something that a run tells.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// The log that is going to be written.
    Log(&'a Path),
    /// A record was committed.
    Record(&'a Record),
    /// A body wrote a line by [`Context::log`](crate::Context::log).
    Line {
        /// The step.
        step: &'a str,
        /// The line.
        line: &'a str,
    },
    /// A body told how far it is.
    Progress {
        /// The step.
        step: &'a str,
        /// How much is done.
        done: u64,
        /// How much there is.
        total: u64,
    },
    /// Something that a person should know and that stops nothing.
    Warning(&'a str),
}

/// Hears what a run tells; called from several threads, records in the order of the log.
///
/// ```
/// use std::sync::Arc;
///
/// use apollo::{Notice, Observer, RunOptions};
///
/// #[derive(Debug)]
/// struct Printer;
///
/// impl Observer for Printer {
///     fn notice(&self, notice: Notice<'_>) {
///         match notice {
///             Notice::Record(record) => println!("{} {}", record.seq, record.event.status()),
///             Notice::Line { step, line } => println!("{step}: {line}"),
///             Notice::Warning(text) => eprintln!("{text}"),
///             _ => {}
///         }
///     }
/// }
///
/// let options = RunOptions::new().observer(Arc::new(Printer));
/// ```
pub trait Observer: fmt::Debug + Send + Sync {
    /// Takes a notice. It should return soon: a commit may wait for it.
    fn notice(&self, notice: Notice<'_>);
}
