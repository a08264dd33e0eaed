//! The oracle: what must hold of a process's end, of what it leaves, and of the run in the end.
//!
//! It is not the observer: what has to hold while a process works, `process` sees.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use apollo::testing::SimDisk;
use apollo::{AdmissionError, EngineError, RunError, Status, Summary};

use super::check::{Check, Violation};
use super::paths;
use super::story::Story;
use super::watch::Failed;
use super::world::World;

/// What a run leaves: what must be the same whatever happened on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The files of outputs and artifacts, by their names below the run's own.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// How often each effect happened.
    pub effects: BTreeMap<String, u32>,
    /// The steps that were left out.
    pub skipped: BTreeSet<String>,
    /// The log, and its bytes.
    pub log: (PathBuf, Vec<u8>),
}

impl Outcome {
    /// What the newest run on a disk left. Where something was lost, what has no name yet may stay
    /// for ever.
    pub fn of(disk: &SimDisk, world: &World, is_lossy: bool) -> Self {
        let log = paths::logs_on(disk).pop().unwrap_or_default();
        let bytes = disk.read(&log).unwrap_or_default();
        let run = paths::run_of(&log);
        let all = disk.files().into_iter();
        let all = all.filter(|(path, _)| !(is_lossy && paths::is_unnamed(path)));
        let of_run = all.filter_map(|(path, content)| {
            let below = path.strip_prefix(paths::ROOT).ok()?;
            let mut parts = below.iter();
            let (folder, name) = (parts.next()?, parts.next()?);
            let is_mine = (folder == "state" || folder == "artifacts") && *name == *run;
            is_mine.then(|| (Path::new(folder).join(parts.as_path()), content))
        });
        let files = of_run.collect();
        let skipped = Story::of(&bytes).skipped();
        Self { files, effects: world.effects(), skipped, log: (log, bytes) }
    }
}

/// A process that lived ended as it has to, by what failed meanwhile.
///
/// # Errors
/// [`Check::NoDefect`], [`Check::FailureTold`] or [`Check::Ends`].
pub fn judge_end(
    ended: &Result<Summary, RunError>,
    failed: Option<&Failed>,
) -> Result<(), Violation> {
    if let Err(error @ RunError::Engine(EngineError::Defect { .. })) = ended {
        return Check::NoDefect.fails(error);
    }
    let told = |failed: &Failed| format!("{} of {}", failed.what.name(), failed.path.display());
    match (ended, failed) {
        (Ok(_), Some(failed)) => Check::FailureTold
            .holds(failed.may_fail, || format!("{} failed, the run did not", told(failed))),
        (Err(error), Some(failed)) => Check::FailureTold.holds(is_storage(error), || {
            format!("{} failed; the run says: {error:?}", told(failed))
        }),
        (Ok(summary), None) => Check::Ends
            .holds(summary.status == Status::Success, || format!("the run is {}", summary.status)),
        (Err(error), None) => Check::Ends.fails(format!("undisturbed, the run fails: {error:?}")),
    }
}

/// Whether an error says that storage failed, which is exit code 5.
fn is_storage(error: &RunError) -> bool {
    use AdmissionError as Admission;
    matches!(
        error,
        RunError::Engine(EngineError::Log { .. } | EngineError::Store { .. })
            | RunError::Admission(
                Admission::Store { .. } | Admission::Lock { .. } | Admission::Log { .. },
            )
    )
}

/// What a process found in a log is still in it, or kept beside it.
///
/// # Errors
/// [`Check::TailKept`].
pub fn judge_tail(disk: &SimDisk, log: &Path, found: &[u8]) -> Result<(), Violation> {
    let now = disk.read(log).unwrap_or_default();
    if now.starts_with(found) {
        return Ok(());
    }
    let name = log.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (torn, corrupt) = (format!("{name}.torn-"), format!("{name}.corrupt-"));
    let is_kept = |(path, content): &(PathBuf, Vec<u8>)| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(&corrupt) {
            return content == found;
        }
        let offset = name.strip_prefix(&torn).and_then(|rest| rest.split('.').next());
        let Some(offset) = offset.and_then(|offset| offset.parse::<usize>().ok()) else {
            return false;
        };
        found.get(offset..) == Some(content) && now.starts_with(&found[..offset])
    };
    Check::TailKept.holds(disk.files().iter().any(is_kept), || {
        let (was, is) = (found.len(), now.len());
        format!("{} had {was} bytes, has {is}, and nothing is kept", log.display())
    })
}

/// A run that came to its end left what an undisturbed one leaves, and its log says so.
///
/// # Errors
/// The first check that does not hold.
pub fn judge_outcome(
    summary: &Summary,
    outcome: &Outcome,
    expected: &[Outcome],
) -> Result<(), Violation> {
    let story = Story::of(&outcome.log.1);
    let whole = story.bytes().len() == outcome.log.1.len();
    let (broken, wrong_crc) = (&story.broken, story.wrong_crc());
    Check::LogReads.holds(broken.is_none() && wrong_crc.is_none() && whole, || {
        format!("{broken:?}, wrong crc in line {wrong_crc:?}")
    })?;
    let closed = story.closed.as_deref();
    Check::Ends.holds(closed == Some("SUCCESS"), || format!("the log is closed {closed:?}"))?;
    for (step, fate) in &story.steps {
        let often = fate.successes;
        let once = often <= 1 + fate.reruns && (often > 0 || !fate.is_success());
        Check::SuccessOnce
            .holds(once, || format!("`{step}` succeeds {often} times, {} reruns", fate.reruns))?;
    }
    let said: BTreeMap<_, _> = summary
        .steps
        .iter()
        .map(|(id, status)| (id.to_string(), status.as_str().to_owned()))
        .collect();
    let folded: BTreeMap<_, _> =
        story.steps.iter().map(|(id, fate)| (id.clone(), fate.status.clone())).collect();
    Check::LiveIsReplayed
        .holds(said == folded && summary.epoch == story.epoch, || format!("{said:?} {folded:?}"))?;
    let same_files = |one: &&Outcome| one.files == outcome.files && one.skipped == outcome.skipped;
    let Some(alike) = expected.iter().find(same_files) else {
        return Check::SameResult.fails(first_difference(&expected[0], outcome));
    };
    let same_effects = expected.iter().filter(same_files).any(|one| one.effects == outcome.effects);
    Check::EffectOnce
        .holds(same_effects, || format!("{:?}, not {:?}", outcome.effects, alike.effects))
}

fn first_difference(expected: &Outcome, outcome: &Outcome) -> String {
    let names = |one: &Outcome| one.files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    let differing = outcome.files.iter().find(|file| !expected.files.contains(file));
    let path = differing.map(|(path, _)| path);
    format!("{path:?} differs; {:?}, expected {:?}", names(outcome), names(expected))
}
