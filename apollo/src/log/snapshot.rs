//! [`Snapshot`]: what the first records of a log add up to, kept in a file beside it.
//!
//! It is not a part of the log: it is derived, and a run whose snapshot is gone goes on the same.
//! It spares a resume the reading of the records that it stands for. And it is a witness: it is
//! written after their sync has returned, so a log that lacks one of them has lost it.
//!
//! **Invariant:** what [`Snapshot::read`] gives was written whole, for a log of this name. Whether
//! it is of this very log, `reader` finds out before it believes anything.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::Chain;
use crate::disk::{Disk, read_all, write_atomic};
use crate::record::Crc;
use crate::replay::RunState;

/// The version of the form, without that of `state`, which is each version of apollo's own.
const FORM: u32 = 1;

/// Who can read the `state`.
const APOLLO: &str = env!("CARGO_PKG_VERSION");

/// A longer file is neither written nor read: it would cost more than it spares.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// What the first records of a log add up to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    /// The records that it stands for.
    pub(crate) chain: Chain,
    /// Their fold; `None` where another build wrote it, which makes it a witness and no more.
    pub(crate) state: Option<RunState>,
}

/// Why there is no snapshot, or none of this log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotError {
    /// The disk said no.
    #[error("{source}")]
    Io {
        /// What it said.
        source: io::Error,
    },
    /// It is longer than a snapshot may be.
    #[error("it has {bytes} bytes, at most {BYTES_MAX} are allowed")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// Its end is missing, or some of its bytes are others.
    #[error("it is not whole: it does not end in the crc of its bytes")]
    Crc,
    /// It is not the JSON of a snapshot.
    #[error("it is no snapshot: {source}")]
    Json {
        /// What the parser said.
        source: serde_json::Error,
    },
    /// Another version wrote it.
    #[error("it has form {form}, this build knows {FORM}")]
    Form {
        /// Its form.
        form: u32,
    },
    /// It is another run's.
    #[error("it is of the log `{}`", log.escape_debug())]
    OtherLog {
        /// The log's name.
        log: String,
    },
    /// No records have the numbers that it gives.
    #[error("its numbers contradict each other")]
    Numbers,
}

/// A snapshot as it is written, without its crc; the order of the fields is the order of the keys.
#[derive(Serialize)]
struct Wire<'a> {
    snapshot: u32,
    apollo: &'a str,
    log: &'a str,
    chain: &'a Chain,
    state: &'a Option<RunState>,
}

/// A snapshot as it is read: the state stays a text until somebody can tell what it means.
#[derive(Deserialize)]
struct Read<'a> {
    snapshot: u32,
    apollo: String,
    log: String,
    chain: Chain,
    #[serde(borrow)]
    state: &'a RawValue,
}

impl Snapshot {
    /// The fold of the records of a chain.
    pub(crate) fn new(chain: Chain, state: RunState) -> Self {
        debug_assert_eq!(chain.records, state.records(), "the fold is that of the chain");
        Self { chain, state: Some(state) }
    }

    /// Where the snapshot of a log is.
    #[must_use]
    pub(crate) fn path(log: &Path) -> PathBuf {
        log.with_file_name(format!("{}.snapshot", name_of(log)))
    }

    /// Reads the snapshot of a log; `None` where there is none.
    ///
    /// # Errors
    /// [`SnapshotError`]; it is then as if there were none.
    pub(crate) fn read(disk: &dyn Disk, log: &Path) -> Result<Option<Self>, SnapshotError> {
        let path = Self::path(log);
        let bytes = match disk.metadata(&path) {
            Ok(found) if found.len > BYTES_MAX => {
                return Err(SnapshotError::TooLong { bytes: found.len });
            }
            Ok(_) => read_all(disk, &path),
            Err(error) => Err(error),
        };
        match bytes {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(SnapshotError::Io { source }),
            Ok(bytes) => Self::decode(&bytes, &name_of(log)).map(Some),
        }
    }

    /// The records that a log lacks which ends behind such a chain; `None` where it lacks none of
    /// this snapshot's.
    ///
    /// A log of the same name that begins with another record is another log. One that has not even
    /// a first record can't show that, and has lost it.
    pub(super) fn missed_by(&self, chain: &Chain) -> Option<Range<u64>> {
        let is_own = chain.records == 0 || chain.first == self.chain.first;
        let missed = chain.records..self.chain.records;
        (is_own && !missed.is_empty()).then_some(missed)
    }

    /// Writes it beside its log, in the place of the one before.
    ///
    /// # Errors
    /// [`SnapshotError`]; there is the one before, or this one, or none, and the log is as it was.
    pub(crate) fn write(&self, disk: &dyn Disk, log: &Path) -> Result<(), SnapshotError> {
        let bytes = self.encode(&name_of(log))?;
        write_atomic(disk, &Self::path(log), &bytes).map_err(|source| SnapshotError::Io { source })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`SnapshotError::TooLong`].
    pub(in crate::log) fn encode(&self, log: &str) -> Result<Vec<u8>, SnapshotError> {
        let (chain, state) = (&self.chain, &self.state);
        let wire = Wire { snapshot: FORM, apollo: APOLLO, log, chain, state };
        let mut bytes =
            serde_json::to_vec(&wire).map_err(|source| SnapshotError::Json { source })?;
        let closed = bytes.pop();
        debug_assert_eq!(closed, Some(b'}'), "a snapshot is an object");
        bytes.extend(end_of(&bytes));
        match bytes.len() as u64 {
            bytes if bytes > BYTES_MAX => Err(SnapshotError::TooLong { bytes }),
            _ => Ok(bytes),
        }
    }

    /// Reads the bytes of the file.
    ///
    /// # Errors
    /// [`SnapshotError`] with what is wrong; the crc is judged before anything else.
    pub(in crate::log) fn decode(bytes: &[u8], log: &str) -> Result<Self, SnapshotError> {
        let body = bytes.len().checked_sub(end_of(b"").len());
        let (body, end) =
            body.and_then(|body| bytes.split_at_checked(body)).ok_or(SnapshotError::Crc)?;
        if end != end_of(body) {
            return Err(SnapshotError::Crc);
        }
        let read: Read<'_> =
            serde_json::from_slice(bytes).map_err(|source| SnapshotError::Json { source })?;
        if read.snapshot != FORM {
            return Err(SnapshotError::Form { form: read.snapshot });
        }
        if read.log != log {
            return Err(SnapshotError::OtherLog { log: read.log });
        }
        if read.chain.last_offset_bytes().is_none() {
            return Err(SnapshotError::Numbers);
        }
        let state = Some(read.state).filter(|_| read.apollo == APOLLO);
        let state = state.and_then(|state| serde_json::from_str::<RunState>(state.get()).ok());
        let state = state.and_then(RunState::restored);
        let state = state.filter(|state| state.records() == read.chain.records);
        Ok(Self { chain: read.chain, state })
    }
}

/// What a file ends in whose other bytes are these.
fn end_of(body: &[u8]) -> Vec<u8> {
    format!(",\"crc\":\"{}\"}}\n", Crc::of(body)).into_bytes()
}

fn name_of(log: &Path) -> String {
    log.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
