//! [`RawLog`]: a log on any disk, written, read and sealed by the product itself, for those who
//! compare it with another reader, fuzz it or measure it.
//!
//! It is not an interface for programs: a pipeline never touches its log.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock::SystemClock;
use crate::disk::Disk;
use crate::id::NameError;
use crate::log::{
    LogError, LogFile, LogWriter, ReadError, Scan, Snapshot, Sync, Tail, UnsealedLog,
};
use crate::record::{self, Event, Record};
use crate::replay::RunState;
use crate::store;
use crate::time::Timestamp;

/// Any error of the log, as it was.
type AnyError = Box<dyn Error + Send + std::marker::Sync>;

/// A log, without the run that it belongs to.
#[derive(Debug, Clone)]
pub struct RawLog {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

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
    /// How many leading records were not read, because a snapshot stands for them.
    pub from_snapshot: u64,
}

impl RawLog {
    /// The log at a path, which need not exist.
    #[must_use]
    pub fn at(disk: Arc<dyn Disk>, path: &Path) -> Self {
        Self { disk, path: path.to_owned() }
    }

    /// Creates the log, with events that all happen at one moment, so many of them in a commit.
    ///
    /// # Errors
    /// [`RecordError`](crate::RecordError) and [`LogError`](crate::LogError), as they were; the
    /// log is then unfinished.
    ///
    /// # Durability
    /// When it returns, every record of the log survives a power cut.
    pub fn write(
        &self,
        events_a_commit: usize,
        events: impl IntoIterator<Item = (u32, Event)>,
    ) -> Result<(), AnyError> {
        let (mut writer, mut file) = LogFile::create(&self.disk, &self.path)?;
        let mut waiting = 0;
        for (epoch, event) in events {
            writer.append(Timestamp::from_unix_us(0), epoch, event, Sync::Now)?;
            waiting += 1;
            if waiting == events_a_commit {
                waiting = 0;
                commit(&mut writer, &mut file)?;
            }
        }
        commit(&mut writer, &mut file)?;
        Ok(file.close()?)
    }

    /// Creates the log, one event in a commit, and the snapshot that stands for its first records.
    ///
    /// # Errors
    /// As [`Self::write`]; also [`Contradiction`](crate::Contradiction) where the events are those
    /// of no run.
    pub fn write_with_snapshot(
        &self,
        records: u64,
        events: impl IntoIterator<Item = (u32, Event)>,
    ) -> Result<(), AnyError> {
        let (mut writer, mut file) = LogFile::create(&self.disk, &self.path)?;
        let mut state = RunState::default();
        for (epoch, event) in events {
            state.apply(&writer.append(Timestamp::from_unix_us(0), epoch, event, Sync::Now)?)?;
            commit(&mut writer, &mut file)?;
            if state.records() == records {
                let snapshot = Snapshot::new(writer.chain().clone(), state.clone());
                snapshot.write(&*self.disk, &self.path)?;
            }
        }
        Ok(file.close()?)
    }

    /// Reads the log from its start, and hands out its valid records.
    ///
    /// # Errors
    /// As a run that finds it: [`ReadError::Corrupt`] above all. The disk is as it was.
    pub fn read(&self, each: &mut dyn FnMut(Record)) -> Result<LogFound, ReadError> {
        let scan = UnsealedLog::open(&self.disk, &self.path)?.scan(&mut |record| {
            each(record);
            Ok(())
        })?;
        Ok(LogFound::of(&scan))
    }

    /// Folds the log; the records that its snapshot stands for are not read again.
    ///
    /// # Errors
    /// As a run that finds it. The disk is as it was.
    pub fn fold(&self) -> Result<(RunState, LogFound), ReadError> {
        let (state, scan) = UnsealedLog::open(&self.disk, &self.path)?.fold()?;
        Ok((state, LogFound::of(&scan)))
    }

    /// Makes the log ready to go on with, as a run that finds it does, and closes it. Gives back
    /// where the torn tail that it cut off is kept.
    ///
    /// # Errors
    /// [`ReadError`] and [`LogError`](crate::LogError), as they were.
    ///
    /// # Durability
    /// When it returns, every record of the log survives a power cut.
    pub fn seal(&self) -> Result<Option<PathBuf>, AnyError> {
        let mut log = UnsealedLog::open_locked(&self.disk, &self.path, &SystemClock::default())?;
        let scan = log.scan(&mut |_record| Ok(()))?;
        let (_writer, file, sealed) = log.seal(scan)?;
        file.close()?;
        Ok(sealed.map(|sealed| sealed.kept))
    }
}

impl LogFound {
    const fn of(scan: &Scan) -> Self {
        Self {
            records: scan.records,
            durable: scan.durable,
            durable_end_bytes: scan.durable_end_bytes,
            end_bytes: scan.end_bytes,
            torn_bytes: match scan.tail {
                Tail::Clean => None,
                Tail::Torn { bytes, .. } => Some(bytes),
            },
            from_snapshot: scan.from_snapshot,
        }
    }
}

fn commit(writer: &mut LogWriter, file: &mut LogFile) -> Result<(), LogError> {
    let batch = writer.take();
    let synced = file.commit(&batch, true, 0)?;
    writer.committed(batch, synced);
    Ok(())
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
