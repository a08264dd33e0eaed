//! [`LogWriter`]: the next records as bytes, and [`Batch`], those that go to the disk together.
//!
//! It is not the disk: [`LogFile`](super::LogFile) writes a batch, and nobody else does. Many
//! threads append here under one mutex while one of them, the leader, commits the batch before.
//!
//! **Invariant:** the `durable` of a record counts only records whose sync has returned.

use std::path::Path;

use super::chain::Chain;
use super::reader::Scan;
use crate::record::{Event, Record, RecordError, Spill};
use crate::time::Timestamp;

/// How many records may be written and not synced.
const UNSYNCED_MAX: u64 = 64;

/// When a record has to be synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// With the commit that writes it.
    Now,
    /// At the latest when 64 records wait; the engine sees to the 50 ms.
    Batched,
}

/// Makes records out of events: numbers them, chains them, and keeps them for the next commit.
#[derive(Debug)]
pub(crate) struct LogWriter {
    log_name: String,
    /// The records so far, those included that wait for a commit.
    chain: Chain,
    /// How many leading records are synced.
    durable: u64,
    /// How many of those that were found a snapshot stands for.
    snapshot_records: u64,
    pending: Batch,
    /// An empty batch whose buffer is used again.
    spare: Batch,
}

/// Records that are written with one `write` and synced with one fdatasync, in their order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The lines.
    pub(super) bytes: Vec<u8>,
    /// Files that have to be durable before the lines are written.
    pub(super) spills: Vec<Spill>,
    /// How many records the log has with these.
    records: u64,
    /// Whether one of the records can't wait.
    sync_now: bool,
    /// How many records are not synced, with these.
    unsynced: u64,
}

impl LogWriter {
    /// Begins a log without records.
    pub(super) fn new(log: &Path) -> Self {
        let log_name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            log_name,
            chain: Chain::default(),
            durable: 0,
            snapshot_records: 0,
            pending: Batch::default(),
            spare: Batch::default(),
        }
    }

    /// Goes on behind the records of a log that was sealed, all of which are synced.
    pub(super) fn after(log: &Path, scan: &Scan) -> Self {
        let durable = scan.records;
        Self {
            chain: Chain {
                records: scan.records,
                first: scan.first,
                prev: scan.prev,
                end_bytes: scan.end_bytes,
                durable,
                open_offsets_bytes: <_>::default(),
            },
            durable,
            snapshot_records: scan.from_snapshot,
            ..Self::new(log)
        }
    }

    /// Makes an event the next record, which waits for the next commit. Nothing is written.
    ///
    /// # Errors
    /// [`RecordError::TooLong`] when the record does not fit into a line; it is as if it had never
    /// been appended.
    ///
    /// # Durability
    /// None before [`LogFile::commit`](super::LogFile::commit) of its batch has returned.
    pub(crate) fn append(
        &mut self,
        timestamp: Timestamp,
        epoch: u32,
        event: Event,
        sync: Sync,
    ) -> Result<Record, RecordError> {
        let (seq, durable, prev) = (self.chain.records, self.durable, self.chain.prev);
        let record = Record { timestamp, seq, epoch, durable, prev, event };
        let line = record.encode(&self.log_name)?;
        self.pending.bytes.extend_from_slice(&line.bytes);
        self.pending.spills.extend(line.spills);
        self.pending.sync_now |= sync == Sync::Now;
        self.chain.extend(durable, line.crc, line.bytes.len() as u64);
        Ok(record)
    }

    /// Whether records wait for a commit.
    #[must_use]
    pub(crate) const fn has_pending(&self) -> bool {
        !self.pending.bytes.is_empty()
    }

    /// Takes what waits, for one commit. When nothing waits the batch is empty: committing it with
    /// `force_sync` makes what was written before durable.
    #[must_use]
    pub(crate) fn take(&mut self) -> Batch {
        let mut batch = std::mem::replace(&mut self.pending, std::mem::take(&mut self.spare));
        batch.records = self.chain.records;
        batch.unsynced = self.unsynced();
        batch
    }

    /// Notes that a batch is in the log, and whether it is synced, and everything before it.
    pub(crate) fn committed(&mut self, mut batch: Batch, synced: bool) {
        debug_assert!(batch.records <= self.chain.records, "the batch is this log's");
        if synced {
            self.durable = self.durable.max(batch.records);
        }
        batch.bytes.clear();
        batch.spills.clear();
        self.spare = Batch { bytes: batch.bytes, spills: batch.spills, ..Batch::default() };
    }

    /// How many leading records are synced.
    #[must_use]
    pub(crate) const fn durable(&self) -> u64 {
        self.durable
    }

    #[cfg(test)]
    /// The number of the next record.
    #[must_use]
    pub(crate) const fn next_seq(&self) -> u64 {
        self.chain.records
    }

    /// How many records are not synced, those included that wait for a commit.
    #[must_use]
    pub(crate) const fn unsynced(&self) -> u64 {
        self.chain.records - self.durable
    }

    /// The records so far, those included that wait for a commit.
    #[must_use]
    pub(crate) const fn chain(&self) -> &Chain {
        &self.chain
    }

    /// How many of the records that were found a snapshot stands for.
    #[must_use]
    pub(crate) const fn snapshot_records(&self) -> u64 {
        self.snapshot_records
    }
}

impl Batch {
    /// Whether its commit has to sync.
    #[must_use]
    pub(crate) const fn needs_sync(&self) -> bool {
        self.sync_now || self.unsynced >= UNSYNCED_MAX
    }

    /// Whether it holds no record.
    #[must_use]
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
