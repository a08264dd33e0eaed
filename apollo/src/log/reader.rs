//! [`UnsealedLog`]: a log as it was found, and the judgement of its bytes.
//!
//! It is not the repair of a torn tail: reading never writes; that is `seal`.
//!
//! **Invariant:** a record is handed out only when its newline, crc, seq and prev are right and
//! everything before it was, too. What follows the first invalid byte is a torn tail unless a
//! record behind it, or the log's snapshot, says that the line had been synced: then it is
//! corruption, and refused. So is a log that lacks a record that its snapshot stands for.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chain::Chain;
use super::lines::{Lines, Next};
use super::snapshot::Snapshot;
use crate::clock::Clock;
use crate::disk::{Disk, DiskFile, Open, patiently, read_all};
use crate::record::{Crc, Envelope, LINE_BYTES_MAX, Record, RecordError, SCHEMA};
use crate::replay::RunState;

/// What every line begins with.
const LINE_START: &[u8] = b"{\"timestamp\":\"";

/// The longest name that a file system takes.
const NAME_BYTES_MAX: usize = 255;

/// A log that may only be read.
#[derive(Debug)]
pub(crate) struct Unlocked;

/// A log that this process alone may change.
#[derive(Debug)]
pub(crate) struct Locked;

/// A log as a process left it: it may end in a torn tail, so nothing can be appended yet.
#[derive(Debug)]
pub(crate) struct UnsealedLog<L = Unlocked> {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) file: Box<dyn DiskFile>,
    lock: PhantomData<L>,
}

/// What a log holds, beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scan {
    /// How many valid records there are; also the `seq` of the next one.
    pub records: u64,
    /// The crc of the first one.
    pub first: Crc,
    /// The crc of the last valid record, which the next one repeats.
    pub prev: Crc,
    /// Where the bytes of the valid records end.
    pub end_bytes: u64,
    /// How many leading records are known to be synced.
    pub durable: u64,
    /// Where the records begin that are not known to be synced.
    pub durable_end_bytes: u64,
    /// What follows the valid records.
    pub tail: Tail,
    /// How many leading records were not read, because a snapshot stands for them.
    pub from_snapshot: u64,
}

/// What follows the valid records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing.
    Clean,
    /// What a crash left of records that were not synced.
    Torn {
        /// Where it begins.
        offset_bytes: u64,
        /// Its length.
        bytes: u64,
        /// Why its first line is no record.
        why: String,
    },
}

/// Why a log can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The disk said no.
    #[error("can't read the log `{}`", path.display())]
    Io {
        /// The log, or a file that belongs to it.
        path: PathBuf,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
    /// Another process works on the run.
    #[error("the log `{}` is locked: another process works on this run", path.display())]
    Locked {
        /// The log.
        path: PathBuf,
    },
    /// A record that had been synced is damaged.
    #[error(
        "the log `{}` is corrupt at line {line}, byte {offset_bytes}: {reason}; {because}; \
         put a copy of the log back, repair it, or start a fresh run",
        path.display()
    )]
    Corrupt {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Where the line begins.
        offset_bytes: u64,
        /// What is wrong with it.
        reason: String,
        /// How that is known not to be the trace of a crash.
        because: String,
    },
    /// A record is valid, but can't be true after those before it.
    #[error(
        "the log `{}` contradicts itself at line {line}, byte {offset_bytes}: {message}; \
         it was not written by one apollo alone; put a copy of the log back, repair it, or start a \
         fresh run",
        path.display()
    )]
    Contradiction {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Where the line begins.
        offset_bytes: u64,
        /// What can't be true.
        message: String,
    },
    /// The log was written by another version.
    #[error(
        "the log `{}` has schema {schema}, this build knows {SCHEMA}; use the apollo that wrote it",
        path.display()
    )]
    Schema {
        /// The log.
        path: PathBuf,
        /// The schema that it names.
        schema: u64,
    },
}

/// Why a line is no record of the log.
enum Bad {
    /// A crash may have left it.
    Suspect(String),
    /// A crash may have left it, or another version wrote it with another checksum.
    SuspectSchema(String, u64),
    /// No crash can have left it.
    Impossible(String),
    /// It can't be known now.
    Failed(ReadError),
}

impl UnsealedLog<Unlocked> {
    /// Opens a log to read it, whoever works on it.
    ///
    /// # Errors
    /// [`ReadError::Io`]; the disk is as it was.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<Self, ReadError> {
        Self::with(disk, path, Open::Read)
    }
}

impl UnsealedLog<Locked> {
    /// Opens a log to go on with it, and takes its lock; waits up to a second for it.
    ///
    /// # Errors
    /// [`ReadError::Locked`] when somebody has the lock, [`ReadError::Io`] otherwise; the disk is
    /// as it was.
    pub(crate) fn open_locked(
        disk: &Arc<dyn Disk>,
        path: &Path,
        clock: &dyn Clock,
    ) -> Result<Self, ReadError> {
        let mut log = Self::with(disk, path, Open::Write)?;
        let locked = patiently(clock, || Ok(log.file.try_lock()?.then_some(())));
        let locked = locked.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        locked.map(|()| log).ok_or_else(|| ReadError::Locked { path: path.to_owned() })
    }
}

impl<L> UnsealedLog<L> {
    fn with(disk: &Arc<dyn Disk>, path: &Path, how: Open) -> Result<Self, ReadError> {
        let file = disk.open(path, how);
        let file = file.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        let disk = Arc::clone(disk);
        Ok(Self { disk, path: path.to_owned(), file, lock: PhantomData })
    }

    /// Folds the log: the state of its run, and the judgement of its bytes. The records that its
    /// snapshot stands for are not read again.
    ///
    /// # Errors
    /// As [`UnsealedLog::scan`]; a record that can't follow the ones before it is a
    /// [`ReadError::Contradiction`]. The disk is as it was.
    pub(crate) fn fold(&mut self) -> Result<(RunState, Scan), ReadError> {
        let (mut begin, mut state) = <(Chain, RunState)>::default();
        let mut snapshot = self.snapshot();
        if let Some(snapshot) = &mut snapshot
            && snapshot.state.is_some()
            && self.holds(&snapshot.chain)?
            && let Some(kept) = snapshot.state.take()
        {
            (begin, state) = (snapshot.chain.clone(), kept);
        }
        let each = &mut |record| state.apply(&record).map_err(|error| error.message);
        let scan = self.scan_behind(begin, snapshot.as_ref(), each)?;
        Ok((state, scan))
    }

    /// Whether the snapshot makes another state of the log than all of its records add up to.
    ///
    /// # Errors
    /// As [`UnsealedLog::fold`].
    #[cfg(feature = "cli")]
    pub(crate) fn is_misled(&mut self, whole: &RunState) -> Result<bool, ReadError> {
        let (state, _scan) = self.fold()?;
        // Who works on the run may have written more meanwhile.
        Ok(state.records() == whole.records() && state != *whole)
    }

    /// Reads the log from its start, and hands out each valid record. A log without records is no
    /// error: its run never began.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] when a record that had been synced is damaged or gone,
    /// [`ReadError::Contradiction`] with the text that `each` returned, [`ReadError::Schema`] for
    /// another version's log. The disk is as it was.
    ///
    /// # Complexity
    /// One pass; memory does not grow with the log.
    pub(crate) fn scan(
        &mut self,
        each: &mut dyn FnMut(Record) -> Result<(), String>,
    ) -> Result<Scan, ReadError> {
        let snapshot = self.snapshot();
        self.scan_behind(Chain::default(), snapshot.as_ref(), each)
    }

    /// The snapshot beside the log, if it can be read. Ask for it before the log's length: a process
    /// that works on the run may be writing both.
    fn snapshot(&self) -> Option<Snapshot> {
        Snapshot::read(&*self.disk, &self.path).unwrap_or_default()
    }

    /// Whether the records that a chain begins and ends with are where it says.
    fn holds(&mut self, chain: &Chain) -> Result<bool, ReadError> {
        let Some(last) = chain.last_offset_bytes() else { return Ok(false) };
        let mut holds = || -> io::Result<bool> {
            Ok(self.end_of(0, 0, chain.first)?.is_some()
                && self.end_of(last, chain.records - 1, chain.prev)? == Some(chain.end_bytes))
        };
        holds().map_err(|source| ReadError::Io { path: self.path.clone(), source })
    }

    /// Where a record ends, if it is at this offset.
    fn end_of(&mut self, offset_bytes: u64, seq: u64, crc: Crc) -> io::Result<Option<u64>> {
        let mut lines = Lines::at(&mut *self.file, offset_bytes)?;
        let Next::Line(len) = lines.look()? else { return Ok(None) };
        let found = Envelope::decode(lines.bytes().get(..len).unwrap_or_default());
        let is_it = found.is_ok_and(|(found, its)| (found.seq, its) == (seq, crc));
        Ok(is_it.then_some(offset_bytes + len as u64 + 1))
    }

    /// What the snapshot says that the log added up to, and to how many records, where that is more
    /// than are left of it.
    ///
    /// # Errors
    /// What the disk says of the log.
    pub(super) fn remembered(&mut self, left: u64) -> io::Result<Option<(u64, RunState)>> {
        let Some(Snapshot { chain, state }) = self.snapshot() else { return Ok(None) };
        let is_own = left == 0 || self.end_of(0, 0, chain.first)?.is_some();
        let state = state.filter(|_| is_own && chain.records > left);
        Ok(state.map(|state| (chain.records, state)))
    }

    /// Reads what the log has behind a chain that it holds. What its snapshot stands for has to be
    /// there.
    fn scan_behind(
        &mut self,
        mut chain: Chain,
        snapshot: Option<&Snapshot>,
        each: &mut dyn FnMut(Record) -> Result<(), String>,
    ) -> Result<Scan, ReadError> {
        let from_snapshot = chain.records;
        let (disk, path) = (&*self.disk, &*self.path);
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let mut lines = Lines::at(&mut *self.file, chain.end_bytes).map_err(io)?;
        let tail = loop {
            let offset_bytes = lines.offset_bytes();
            let (len, verdict) = match lines.look().map_err(io)? {
                Next::End => break chain.judge_end(snapshot, path)?,
                Next::Open => (0, Err(Bad::Suspect("the line has no newline".to_owned()))),
                Next::Line(len) => {
                    let line = lines.bytes().get(..len).unwrap_or_default();
                    (len, chain.judge(line, disk, path))
                }
            };
            match verdict {
                Ok((record, crc)) => {
                    chain.extend(record.durable, crc, len as u64 + 1);
                    each(record).map_err(|message| {
                        let (path, line) = (path.to_owned(), chain.records);
                        ReadError::Contradiction { path, line, offset_bytes, message }
                    })?;
                    lines.take(len + 1);
                }
                Err(bad) => break chain.judge_tail(bad, snapshot, &mut lines, path)?,
            }
        };
        Ok(Scan {
            records: chain.records,
            first: chain.first,
            prev: chain.prev,
            end_bytes: chain.end_bytes,
            durable: chain.durable,
            durable_end_bytes: chain.durable_end_bytes(),
            tail,
            from_snapshot,
        })
    }
}

impl Chain {
    /// Decides whether a line, given without its newline, is the next record.
    fn judge(&self, line: &[u8], disk: &dyn Disk, path: &Path) -> Result<(Record, Crc), Bad> {
        let spill_error = RefCell::new(None);
        let load = |name: &str| {
            read_spill(disk, path, name).map_err(|error| {
                let kind = error.kind();
                spill_error.replace(Some((path.with_file_name(name), error)));
                kind.into()
            })
        };
        let (record, crc) = Record::decode(line, &load).map_err(|error| {
            judge_error(self.records == 0, line, path, error, spill_error.take())
        })?;
        let want = (self.records, self.prev);
        if (record.seq, record.prev) != want {
            return Err(Bad::Suspect(if record.seq == want.0 {
                let (prev, want) = (record.prev, want.1);
                format!("the line says prev {prev}, the line before has crc {want}")
            } else {
                format!("the line says seq {}, want {}", record.seq, want.0)
            }));
        }
        if record.durable < self.durable || record.durable > record.seq {
            let (durable, before) = (record.durable, self.durable);
            let reason = format!("the line says durable {durable}, the line before {before}");
            return Err(Bad::Impossible(reason));
        }
        Ok((record, crc))
    }

    /// Tells what it means that nothing follows in a file.
    fn judge_end(&self, snapshot: Option<&Snapshot>, path: &Path) -> Result<Tail, ReadError> {
        let Some(missed) = snapshot.and_then(|snapshot| snapshot.missed_by(self)) else {
            return Ok(Tail::Clean);
        };
        let (path, line, offset_bytes) = (path.to_owned(), self.records + 1, self.end_bytes);
        let reason =
            format!("it ends here, without records {} to {}", missed.start, missed.end - 1);
        let because = "its snapshot says that they were synced".to_owned();
        Err(ReadError::Corrupt { path, line, offset_bytes, reason, because })
    }

    /// Tells what it means that the line which comes next in a file is no record.
    fn judge_tail(
        &self,
        bad: Bad,
        snapshot: Option<&Snapshot>,
        lines: &mut Lines<'_>,
        path: &Path,
    ) -> Result<Tail, ReadError> {
        let (path, offset_bytes) = (path.to_owned(), lines.offset_bytes());
        let (reason, schema, known) = match bad {
            Bad::Failed(error) => return Err(error),
            Bad::Impossible(reason) => (reason, None, true),
            Bad::Suspect(reason) => (reason, None, false),
            Bad::SuspectSchema(reason, schema) => (reason, Some(schema), false),
        };
        let missed = snapshot.and_then(|snapshot| snapshot.missed_by(self));
        let because = match missed.filter(|_| schema.is_none()) {
            _ if known => Some("its crc is right, so no crash left it".to_owned()),
            Some(missed) => {
                let last = missed.end - 1;
                Some(format!("the snapshot says that all records up to {last} were synced"))
            }
            None => {
                let voucher = voucher(lines, self.records);
                let io = |source| ReadError::Io { path: path.clone(), source };
                voucher.map_err(io)?.map(|by| format!("record {by} says that it was synced"))
            }
        };
        match (because, schema) {
            (Some(because), _) => {
                let line = self.records + 1;
                Err(ReadError::Corrupt { path, line, offset_bytes, reason, because })
            }
            (None, Some(schema)) => Err(ReadError::Schema { path, schema }),
            (None, None) => {
                let bytes = lines.len_bytes().saturating_sub(offset_bytes);
                Ok(Tail::Torn { offset_bytes, bytes, why: reason })
            }
        }
    }
}

/// Reads a file that belongs to a line of the log at `path`.
pub(super) fn read_spill(disk: &dyn Disk, path: &Path, name: &str) -> io::Result<Vec<u8>> {
    // The name is a text in a file: it may lead nowhere else, and what names no file names none
    // that is there.
    let is_name = Path::new(name).file_name() == Some(OsStr::new(name));
    if !is_name || name.contains('\0') || name.len() > NAME_BYTES_MAX {
        return Err(io::ErrorKind::NotFound.into());
    }
    read_all(disk, &path.with_file_name(name))
}

/// Tells whether a crash may have left a line that could not be decoded.
fn judge_error(
    first: bool,
    line: &[u8],
    path: &Path,
    error: RecordError,
    spill_error: Option<(PathBuf, io::Error)>,
) -> Bad {
    let schema = if first { other_schema(line) } else { None };
    let refused = |schema| Bad::Failed(ReadError::Schema { path: path.to_owned(), schema });
    match error {
        RecordError::Schema { schema } => refused(schema.into()),
        RecordError::Spill { .. } => match spill_error {
            Some((path, source)) if source.kind() != io::ErrorKind::NotFound => {
                Bad::Failed(ReadError::Io { path, source })
            }
            // The name of the first spill file is synced after its record.
            Some(_) | None => Bad::Suspect(error.to_string()),
        },
        RecordError::TooLong { .. } | RecordError::NoCrc | RecordError::Crc { .. } => {
            match schema {
                Some(schema) => Bad::SuspectSchema(error.to_string(), schema),
                None => Bad::Suspect(error.to_string()),
            }
        }
        RecordError::Json { .. } | RecordError::Meaning { .. } => match (schema, &error) {
            (Some(schema), _) => refused(schema),
            (None, RecordError::Json { source }) => Bad::Impossible(format!("{error}: {source}")),
            (None, _) => Bad::Impossible(error.to_string()),
        },
    }
}

/// The schema that a first line names, where it is a later one than this build's.
fn other_schema(line: &[u8]) -> Option<u64> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    value.get("detail")?.get("schema")?.as_u64().filter(|schema| *schema > u64::from(SCHEMA))
}

/// Looks, from the first invalid byte on, for a record that is valid in itself and says that the
/// record numbered `bad` was synced.
fn voucher(lines: &mut Lines<'_>, bad: u64) -> io::Result<Option<u64>> {
    while let Some((envelope, len)) = resync(lines)? {
        if envelope.durable > bad {
            return Ok(Some(envelope.seq));
        }
        lines.take(len + 1);
    }
    Ok(None)
}

/// Goes on to the next line that is valid in itself, whatever was before it, and tells its length.
/// It looks at every place where a line could begin, not only behind newlines, because a newline
/// may be among what is damaged.
pub(super) fn resync(lines: &mut Lines<'_>) -> io::Result<Option<(Envelope, usize)>> {
    loop {
        lines.fill(LINE_BYTES_MAX + 1)?;
        let found = lines.bytes().windows(LINE_START.len()).position(|seen| seen == LINE_START);
        let Some(at) = found else {
            let seen = lines.bytes().len();
            if seen <= LINE_BYTES_MAX {
                return Ok(None);
            }
            lines.take(seen - LINE_START.len());
            continue;
        };
        lines.take(at);
        if let Next::Line(len) = lines.look()? {
            let line = lines.bytes().get(..len).unwrap_or_default();
            if let Ok((envelope, _crc)) = Envelope::decode(line) {
                return Ok(Some((envelope, len)));
            }
        }
        lines.take(1);
    }
}
