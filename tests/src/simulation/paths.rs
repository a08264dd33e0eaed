//! Where things are in the directory of a simulated run, as its documentation says.

use std::path::{Path, PathBuf};

use apollo::Digest;
use apollo::testing::SimDisk;

use super::check::{Check, Violation};
use super::story::{Fate, Story};

/// The directory.
pub const ROOT: &str = "/apollo";

/// The directory of the logs.
pub fn logs() -> PathBuf {
    Path::new(ROOT).join("logs")
}

/// The snapshot of a log.
pub fn snapshot(log: &Path) -> PathBuf {
    log.with_extension("jsonl.snapshot")
}

/// The name of a run: that of its log without the end.
pub fn run_of(log: &Path) -> String {
    log.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
}

/// The file of a step's output.
pub fn output(log: &Path, step: &str) -> PathBuf {
    Path::new(ROOT).join("state").join(run_of(log)).join(format!("{step}.json"))
}

/// The file of a step's artifact.
pub fn artifact(log: &Path, step: &str, name: &str) -> PathBuf {
    Path::new(ROOT).join("artifacts").join(run_of(log)).join(step).join(name)
}

/// Whether a file has not got the name yet that it was made for.
pub fn is_unnamed(path: &Path) -> bool {
    let is_staged = path.components().any(|part| part.as_os_str() == ".staging");
    is_staged || path.extension().is_some_and(|end| end == "tmp")
}

/// The logs on a disk, the newest run's last.
pub fn logs_on(disk: &SimDisk) -> Vec<PathBuf> {
    let mut logs: Vec<_> = disk.files().into_iter().map(|(path, _)| path).collect();
    logs.retain(|path| {
        path.starts_with(self::logs()) && path.extension().is_some_and(|end| end == "jsonl")
    });
    // The start is the last part of the name, and in a simulation always as long.
    logs.sort();
    logs
}

/// The files that a record of a step's success names: where they are, and their digests.
pub fn named_by(log: &Path, step: &str, fate: &Fate) -> Vec<(PathBuf, String)> {
    let null = Digest::of(b"null").to_string();
    let output = fate.output.clone().filter(|digest| *digest != null);
    let artifacts = fate.artifacts.iter();
    let artifacts = artifacts.map(|(name, digest)| (artifact(log, step, name), digest.clone()));
    output.map(|digest| (self::output(log, step), digest)).into_iter().chain(artifacts).collect()
}

/// Sees to it that the files of finished steps are there as the log says, by a view of the disk.
///
/// # Errors
/// [`Check::NamedFileWhole`] with the first that is not.
pub fn check_named<'a>(
    log: &Path,
    story: &Story,
    steps: impl IntoIterator<Item = &'a String>,
    view: &dyn Fn(&Path) -> Option<Vec<u8>>,
) -> Result<(), Violation> {
    for step in steps {
        let Some(fate) = story.steps.get(step).filter(|fate| fate.is_success()) else { continue };
        for (path, digest) in named_by(log, step, fate) {
            let found = view(&path).map(|bytes| Digest::of(&bytes).to_string());
            Check::NamedFileWhole.holds(found.as_ref() == Some(&digest), || {
                format!("`{step}` left {} with {digest}, there is {found:?}", path.display())
            })?;
        }
    }
    Ok(())
}
