//! `verify`: a run's bytes against their checksums.
//!
//! It is not a repair: nothing is written.

use std::path::Path;

use serde::Serialize;

use super::exit::{Failure, REFUSED, STORAGE};
use super::find;
use super::output::Screen;
use super::text::{Style, bytes, count, escaped, shown_path};
use crate::admission::loss;
use crate::disk::digest_of;
use crate::log::{Snapshot, Tail, UnsealedLog};

/// What was found.
#[derive(Debug, Serialize)]
struct Verified {
    run: String,
    log: String,
    ok: bool,
    records: u64,
    /// How many leading records are known to be synced.
    durable: u64,
    /// How many outputs were compared.
    outputs: usize,
    /// How many artifacts were compared.
    artifacts: usize,
    /// What a crash left behind the last record.
    torn_bytes: u64,
    /// Of the log's file.
    digest: String,
    bytes: u64,
    faults: Vec<String>,
}

/// Verifies a run.
///
/// # Errors
/// A failure with the place of the first fault.
pub(crate) fn show(
    screen: &Screen,
    dir: Option<&Path>,
    id: &str,
    json: bool,
) -> Result<(), Failure> {
    let store = find::store(dir)?;
    let run = find::run(&store, id)?;
    let path = store.log_path(&run);
    let read = |error| Failure::of_read(&error);
    let mut log = UnsealedLog::open(store.disk(), &path).map_err(read)?;
    let (state, scan) = log.fold_whole().map_err(read)?;
    let (digest, length) = digest_of(&**store.disk(), &path).map_err(|error| {
        Failure::new(STORAGE, format!("can't read `{}`: {error}", path.display()))
    })?;
    let steps: Vec<_> = state.steps().iter().chain(state.gone()).collect();
    let mut faults: Vec<_> = steps
        .iter()
        .filter_map(|step| Some(format!("step `{}`: {}", step.id, loss(&store, &run, step)?)))
        .collect();
    if log.is_misled(&state).map_err(read)? {
        let snapshot = Snapshot::path(&path);
        faults.push(format!(
            "the snapshot `{}` is not what its log adds up to; remove it",
            snapshot.display()
        ));
    }
    let torn_bytes = match scan.tail {
        Tail::Clean => 0,
        Tail::Torn { bytes, .. } => bytes,
    };
    let verified = Verified {
        run: run.to_string(),
        log: path.display().to_string(),
        ok: faults.is_empty(),
        records: scan.records,
        durable: scan.durable,
        outputs: steps.iter().filter(|step| step.output.is_some()).count(),
        artifacts: steps.iter().map(|step| step.artifacts.len()).sum(),
        torn_bytes,
        digest: digest.to_string(),
        bytes: length,
        faults,
    };
    print(screen, &verified, &path, json);
    let Some(first) = verified.faults.first() else { return Ok(()) };
    let mut failure = Failure::new(REFUSED, first);
    failure.details = verified.faults.iter().skip(1).map(|fault| format!("  {fault}")).collect();
    Err(failure.hint("the next run makes what it needs of it again; `--new` makes all of it"))
}

fn print(screen: &Screen, verified: &Verified, path: &Path, json: bool) {
    if json {
        screen.json(verified);
        return;
    }
    let good = screen.palette().paint(Style::Good, "ok");
    let chain = count(usize::try_from(verified.records).unwrap_or(usize::MAX), "record");
    screen.line(&escaped(&verified.run));
    screen.line(&format!("  log        {good}: {chain}, each crc and the chain"));
    if verified.torn_bytes > 0 {
        let torn = bytes(verified.torn_bytes);
        let text = format!("{torn} of a torn tail follow; the next run cuts them off");
        screen.note(Style::Warn, "warning", &text);
    }
    if verified.ok {
        let (outputs, artifacts) = (verified.outputs, verified.artifacts);
        screen.line(&format!("  outputs    {good}: {outputs}"));
        screen.line(&format!("  artifacts  {good}: {artifacts}"));
    }
    screen.line(&format!("  {}  {}", verified.digest, shown_path(path)));
}
