//! A log on any disk, written, read and sealed by the product itself, for those who compare it with
//! another reader, fuzz it or measure it.
//!
//! It is not an interface for programs: a pipeline never touches its log.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock::SystemClock;
use crate::disk::Disk;
use crate::id::NameError;
use crate::log::{LogFile, ReadError, Sync, Tail, UnsealedLog};
use crate::record::{self, Event, Record};
use crate::store;
use crate::time::Timestamp;

/// What the reader found in a log, beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFound {
    /// How many valid records there are.
    pub records: u64,
    /// How many leading records are known to be synced.
    pub durable: u64,
    /// Where the records begin that are not.
    pub durable_end_bytes: u64,
    /// Where the valid records end.
    pub end_bytes: u64,
    /// The length of the torn tail behind them; `None` where the log ends with them.
    pub torn_bytes: Option<u64>,
}

/// Reads a log, and hands out its valid records.
///
/// # Errors
/// As a run that finds it: [`ReadError::Corrupt`] above all. The disk is as it was.
pub fn read_log(
    disk: &Arc<dyn Disk>,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<LogFound, ReadError> {
    let scan = UnsealedLog::open(disk, path)?.scan(&mut |record| {
        each(record);
        Ok(())
    })?;
    Ok(LogFound {
        records: scan.records,
        durable: scan.durable,
        durable_end_bytes: scan.durable_end_bytes,
        end_bytes: scan.end_bytes,
        torn_bytes: match scan.tail {
            Tail::Clean => None,
            Tail::Torn { bytes, .. } => Some(bytes),
        },
    })
}

/// Makes a log ready to go on with, as a run that finds it does, and closes it. Gives back where
/// the torn tail that it cut off is kept.
///
/// # Errors
/// [`ReadError`] and [`LogError`](crate::LogError), as they were.
///
/// # Durability
/// When it returns, every record of the log survives a power cut.
pub fn seal_log(
    disk: &Arc<dyn Disk>,
    path: &Path,
) -> Result<Option<PathBuf>, Box<dyn Error + Send + std::marker::Sync>> {
    let mut log = UnsealedLog::open_locked(disk, path, &SystemClock::default())?;
    let scan = log.scan(&mut |_record| Ok(()))?;
    let (_writer, file, sealed) = log.seal(scan)?;
    file.close()?;
    Ok(sealed.map(|sealed| sealed.kept))
}

/// Writes a new log whose events all happen at one moment, so many of them in a commit.
///
/// # Errors
/// [`RecordError`](crate::RecordError) and [`LogError`](crate::LogError), as they were; the log is
/// then unfinished.
///
/// # Durability
/// When it returns, every record of the log survives a power cut.
pub fn write_log(
    disk: &Arc<dyn Disk>,
    path: &Path,
    events_a_commit: usize,
    events: impl IntoIterator<Item = (u32, Event)>,
) -> Result<(), Box<dyn Error + Send + std::marker::Sync>> {
    let (mut writer, mut file) = LogFile::create(disk, path)?;
    let mut waiting = 0;
    for (epoch, event) in events {
        writer.append(Timestamp::from_unix_us(0), epoch, event, Sync::Now)?;
        waiting += 1;
        if waiting == events_a_commit {
            waiting = 0;
            let batch = writer.take();
            let synced = file.commit(&batch, false, 0)?;
            writer.committed(batch, synced);
        }
    }
    file.commit(&writer.take(), true, 0)?;
    Ok(file.close()?)
}

/// Checks a name that a step gives to an artifact.
///
/// # Errors
/// [`NameError`] with the rule that it breaks.
pub fn check_artifact_name(name: &str) -> Result<(), NameError> {
    store::check_artifact_name(name)
}

/// What a record keeps of the message of a failed attempt.
#[must_use]
pub fn cut_message(message: &str) -> String {
    record::cut_message(message)
}
