//! `verify`: the bytes of all runs, or of one, against their checksums.
//!
//! It is not a repair: nothing is written and no lock is taken, so a run at work is not disturbed.
//!
//! **Invariant:** the SHA-256 that is printed covers the very bytes that were judged.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::exit::{Failure, REFUSED, STORAGE, how_to_repair};
use super::find;
use super::inspect::{live, told};
use super::output::Screen;
use super::text::{Cell, Palette, Style, bytes, count, escaped, shown_path, table};
use crate::admission::loss;
use crate::digest::Digest;
use crate::id::RunId;
use crate::inspect::{Live, Worker};
use crate::log::{Damage, Finding, ReadError, Snapshot, UnsealedLog};
use crate::replay::{RunState, StepState};
use crate::state::Status;
use crate::store::Store;

/// What was found.
#[derive(Debug, Serialize)]
struct Verified {
    run: String,
    log: String,
    ok: bool,
    /// Whether a process works on it: then what it has written so far was judged.
    live: bool,
    /// Which process that is.
    worker: Option<Worker>,
    /// How many good records there are.
    records: u64,
    /// How many leading records are known to be synced; unknown in a damaged log.
    durable: Option<u64>,
    /// How many outputs were compared.
    outputs: usize,
    /// How many artifacts were compared.
    artifacts: usize,
    /// What a crash left behind the last record.
    torn_bytes: u64,
    /// Of the log's bytes, as many as there were.
    digest: Option<Digest>,
    bytes: u64,
    /// What is wrong with the log.
    damage: Option<Damage>,
    /// Whether its snapshot is what it adds up to; `None` where no snapshot can be used. With one and
    /// without it the run is the same, so only a bad one is told of, as a fault.
    #[serde(skip)]
    snapshot: Option<bool>,
    /// How many steps have an output or an artifact that is not what the log says.
    altered: usize,
    /// What is wrong, each in one sentence.
    faults: Vec<String>,
    /// The log can't be read, which says nothing about it.
    #[serde(skip)]
    unread: Option<ReadError>,
}

/// Verifies one run.
///
/// # Errors
/// A failure with the place of the first fault.
pub(crate) fn show_one(
    screen: &Screen,
    dir: Option<&Path>,
    id: &str,
    program: &str,
    json: bool,
) -> Result<(), Failure> {
    let store = find::store(dir)?;
    let run = find::run(&store, id)?;
    let verified = verify(&store, &run);
    if let Some(error) = &verified.unread {
        return Err(Failure::of_read(error, program, id));
    }
    if json {
        screen.json(&verified);
    } else {
        screen.lines(&render(&verified, &store.log_path(&run), screen.palette()));
    }
    let Some(first) = verified.faults.first() else { return Ok(()) };
    let mut failure = Failure::new(REFUSED, first);
    failure.details = verified.faults.iter().skip(1).map(|fault| format!("  {fault}")).collect();
    if verified.damage.is_some() {
        failure = failure.hint(how_to_repair(program, id));
    }
    if verified.altered > 0 {
        let hint = "the next run makes what it needs of it again; `--new` makes all of it";
        failure = failure.hint(hint);
    }
    Err(failure)
}

/// Verifies all runs, newest first, and goes on behind one that is not as it should be.
///
/// # Errors
/// A failure with the first fault of each run that has one.
pub(crate) fn show_all(
    screen: &Screen,
    dir: Option<&Path>,
    program: &str,
    json: bool,
) -> Result<(), Failure> {
    let store = find::store(dir)?;
    let runs = store.runs().map_err(|error| Failure::of_store(&error))?;
    let all: Vec<_> = runs.iter().rev().map(|run| verify(&store, run)).collect();
    if json {
        screen.json(&all);
    } else if all.is_empty() {
        screen.line(&format!("no run in {}", shown_path(store.root())));
    } else {
        screen.lines(&table(&all.iter().map(row).collect::<Vec<_>>(), screen.palette()));
    }
    let bad: Vec<_> = all.iter().filter(|run| !run.ok).collect();
    if bad.is_empty() {
        return Ok(());
    }
    let code = if bad.iter().all(|run| run.unread.is_some()) { STORAGE } else { REFUSED };
    let runs = count(all.len(), "run");
    let mut failure = Failure::new(code, format!("not as it should be: {} of {runs}", bad.len()));
    let first = |run: &&Verified| format!("  {}: {}", run.run, run.faults.join("; "));
    failure.details = bad.iter().map(first).collect();
    Err(failure.hint(format!("`{program} verify RUN` says more of one")))
}

fn verify(store: &Store, run: &RunId) -> Verified {
    let path = store.log_path(run);
    let mut verified = Verified {
        run: run.to_string(),
        log: path.display().to_string(),
        ok: false,
        live: false,
        worker: None,
        records: 0,
        durable: None,
        outputs: 0,
        artifacts: 0,
        torn_bytes: 0,
        digest: None,
        bytes: 0,
        damage: None,
        snapshot: None,
        altered: 0,
        faults: Vec::new(),
        unread: None,
    };
    let (task_id, _start) = run.parts();
    let is_newest = store.newest_run(&task_id).ok().flatten().is_none_or(|newest| newest == *run);
    if let Live::Yes(worker) = if is_newest { live(store, run) } else { Live::No } {
        verified.live = true;
        verified.worker = worker;
    }
    if let Err(error) = judge(&mut verified, store, run, &path) {
        verified.faults.push(with_causes(&error));
        verified.unread = Some(error);
    }
    verified.ok = verified.faults.is_empty();
    verified
}

/// Reads the log, and compares what it names with what is there.
fn judge(
    verified: &mut Verified,
    store: &Store,
    run: &RunId,
    path: &Path,
) -> Result<(), ReadError> {
    let mut log = UnsealedLog::open(store.disk(), path)?;
    let examined = log.examine()?;
    let io = |source: io::Error| ReadError::Io { path: path.to_owned(), source };
    verified.bytes = examined.len_bytes();
    verified.digest = Some(log.digest(verified.bytes).map_err(io)?);
    verified.records = examined.state.records();
    verified.torn_bytes = examined.torn_bytes();
    match examined.finding {
        Finding::Sound(scan) => verified.durable = Some(scan.durable),
        Finding::Damaged(damage) => {
            let Damage { line, offset_bytes, reason, .. } = &damage;
            let log = path.display();
            verified.faults.push(format!(
                "the log `{log}` is corrupt at line {line}, byte {offset_bytes}: {reason}"
            ));
            verified.damage = Some(damage);
            // What is behind the damage decides which outputs should be there.
            return Ok(());
        }
    }
    // One that can't be read is as if there were none.
    if Snapshot::read(&**store.disk(), path).is_ok_and(|snapshot| snapshot.is_some()) {
        let misled = log.is_misled(&examined.state)?;
        verified.snapshot = Some(!misled);
        let told = Snapshot::path(path);
        let told =
            format!("the snapshot `{}` is not what its log adds up to; remove it", told.display());
        verified.faults.extend(misled.then_some(told));
    }
    compare(verified, store, run, &mut log, &examined.state)
}

/// Compares what the log says is there with what is.
fn compare(
    verified: &mut Verified,
    store: &Store,
    run: &RunId,
    log: &mut UnsealedLog,
    state: &RunState,
) -> Result<(), ReadError> {
    let lost = losses(store, run, state);
    // A process that works on it may have begun meanwhile to make one of them again.
    let is_sure = lost.is_empty() || !verified.live;
    let now = if is_sure { None } else { Some(log.examine()?.state) };
    let stands =
        |step: &StepState| now.as_ref().is_none_or(|now| now.by_id(step.id.as_str()) == Some(step));
    for (step, what) in lost.into_iter().filter(|(step, _what)| stands(step)) {
        verified.altered += 1;
        verified.faults.push(format!("step `{}`: {what}", step.id));
    }
    verified.outputs = named(state).filter(|step| step.output.is_some()).count();
    verified.artifacts = named(state).map(|step| step.artifacts.len()).sum();
    Ok(())
}

/// The steps whose outputs and artifacts the log says are there.
fn named(state: &RunState) -> impl Iterator<Item = &StepState> {
    let steps = state.steps().iter().chain(state.gone());
    steps.filter(|step| step.status == Status::Success)
}

/// The steps of which something is lost, and what.
fn losses<'a>(store: &Store, run: &RunId, state: &'a RunState) -> Vec<(&'a StepState, String)> {
    named(state).filter_map(|step| Some((step, loss(store, run, step)?))).collect()
}

fn with_causes(error: &ReadError) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn render(verified: &Verified, path: &Path, palette: Palette) -> Vec<String> {
    let good = palette.paint(Style::Good, "ok");
    let records = count(usize::try_from(verified.records).unwrap_or(usize::MAX), "record");
    let mut lines = vec![escaped(&verified.run).into_owned()];
    if verified.live {
        let who = verified.worker.as_ref().map_or("a process".to_owned(), told);
        lines.push(format!("  at work    {who}; what it has written so far was checked"));
    }
    match &verified.damage {
        Some(Damage { line, offset_bytes, .. }) => {
            let bad = palette.paint(Style::Bad, "corrupt");
            lines.push(format!(
                "  log        {bad} at line {line}, byte {offset_bytes}; {records} before it"
            ));
        }
        None => {
            lines.push(format!("  log        {good}: {records}, each crc and the chain"));
            let (outputs, artifacts) = (verified.outputs, verified.artifacts);
            let bad = palette.paint(Style::Bad, "bad");
            if verified.altered == 0 {
                lines.push(format!("  outputs    {good}: {outputs}"));
                lines.push(format!("  artifacts  {good}: {artifacts}"));
            } else {
                let steps = count(verified.altered, "step");
                let of = format!("{outputs} outputs and {artifacts} artifacts");
                lines.push(format!("  files      {bad}: those of {steps}; there are {of}"));
            }
            let snapshot = verified.snapshot.map(|is_right| if is_right { &good } else { &bad });
            lines.extend(snapshot.map(|word| format!("  snapshot   {word}")));
        }
    }
    if verified.torn_bytes > 0 && !verified.live {
        let (mark, torn) = (palette.paint(Style::Warn, "torn"), bytes(verified.torn_bytes));
        lines.push(format!("  tail       {mark}: {torn}, which the next run cuts off"));
    }
    let digest = verified.digest.map(|digest| digest.to_string()).unwrap_or_default();
    lines.push(format!("  {digest}  {}", shown_path(path)));
    lines
}

fn row(verified: &Verified) -> Vec<Cell> {
    let state = match verified {
        Verified { unread: Some(_), .. } => Cell::new("unread", Style::Bad),
        Verified { damage: Some(_), .. } => Cell::new("corrupt", Style::Bad),
        Verified { ok: false, .. } => Cell::new("altered", Style::Bad),
        Verified { live: true, .. } => Cell::new("ok, at work", Style::Good),
        Verified { torn_bytes: 1.., .. } => Cell::new("ok, torn", Style::Warn),
        Verified { .. } => Cell::new("ok", Style::Good),
    };
    let records = count(usize::try_from(verified.records).unwrap_or(usize::MAX), "record");
    let digest = verified.digest.map(|digest| digest.to_string()).unwrap_or_default();
    vec![Cell::plain(&verified.run), state, Cell::plain(&records), Cell::new(&digest, Style::Dim)]
}
