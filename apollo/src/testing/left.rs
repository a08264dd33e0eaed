//! [`Left`]: what a run left that has to be the same however often it was killed, and
//! [`Difference`], where it is not.
//!
//! It is not the log: how often a step was tried, and when, differs after a crash and may.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk as _, RealDisk, read_all};
use crate::graph::Graph;
use crate::id::StepId;
use crate::run::Summary;
use crate::store::Store;

/// How much of a value is shown, in bytes.
const SHOWN_BYTES: usize = 120;

/// How much of what is the same is shown before the first difference, in bytes.
const SHOWN_BEFORE_BYTES: usize = 30;

/// A file that can't be read, and why.
type Unreadable = (PathBuf, io::Error);

/// What a run left.
#[derive(Debug)]
pub(super) struct Left(BTreeMap<Trace, Vec<u8>>);

/// One thing that a run leaves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Trace {
    /// How a step ended.
    End(StepId),
    /// The value of a step.
    Output(StepId),
    /// A file of a step, by its name.
    Artifact(StepId, String),
    /// A file of no step in the working directory, by its path there.
    File(String),
    /// What `observe` returned.
    Observed,
}

/// What is not the same, and how it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    trace: Trace,
    /// The value after an undisturbed run; `None` where there is none.
    expected: Option<Vec<u8>>,
    /// The value that was found.
    got: Option<Vec<u8>>,
}

impl Left {
    /// Collects what a run left below a directory.
    ///
    /// # Errors
    /// What the disk says, with the file.
    pub(super) fn collect(
        root: &Path,
        summary: &Summary,
        observed: Option<Vec<u8>>,
    ) -> Result<Self, Unreadable> {
        let store = Store::open(Arc::new(RealDisk), root);
        let store = store.map_err(|error| (root.to_owned(), io::Error::other(error)))?;
        let observed = observed.map(|seen| (Trace::Observed, seen));
        let mut left: BTreeMap<_, _> = observed.into_iter().collect();
        for (step, status) in &summary.steps {
            left.insert(Trace::End(step.clone()), status.as_str().into());
            let output = store.output_path(&summary.run_id, step);
            match read_all(&RealDisk, &output) {
                Ok(bytes) => drop(left.insert(Trace::Output(step.clone()), bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err((output, error)),
            }
        }
        let steps: BTreeSet<_> = summary.steps.iter().map(|(step, _)| step).collect();
        for (name, bytes) in files(&store.work_dir(&summary.run_id))? {
            let of_step = name.split_once('/').and_then(|(first, rest)| {
                let step = steps.get(&StepId::parse(first).ok()?)?;
                Some(Trace::Artifact((*step).clone(), rest.to_owned()))
            });
            left.insert(of_step.unwrap_or(Trace::File(name)), bytes);
        }
        Ok(Self(left))
    }

    /// Where another run left something else: of the steps in topological order, then files of no
    /// step, then what was observed.
    pub(super) fn differences(&self, got: &Self, graph: &Graph) -> Vec<Difference> {
        let all: BTreeSet<_> = self.0.keys().chain(got.0.keys()).collect();
        let difference = |trace: &Trace| {
            let (expected, got) = (self.0.get(trace).cloned(), got.0.get(trace).cloned());
            (expected != got).then(|| Difference { trace: trace.clone(), expected, got })
        };
        let mut all: Vec<_> = all.into_iter().filter_map(difference).collect();
        let place = |difference: &Difference| {
            let of = graph.index_of(difference.step()?.as_str());
            graph.topological().iter().position(|step| Some(*step) == of)
        };
        all.sort_by_key(|difference| place(difference).unwrap_or(usize::MAX));
        all
    }
}

impl Difference {
    /// The step that left it.
    pub(super) const fn step(&self) -> Option<&StepId> {
        match &self.trace {
            Trace::End(step) | Trace::Output(step) | Trace::Artifact(step, _) => Some(step),
            Trace::File(_) | Trace::Observed => None,
        }
    }

    /// The first byte that is not the same.
    fn at(&self) -> usize {
        let (expected, got) = (self.expected.iter().flatten(), self.got.iter().flatten());
        expected.zip(got).take_while(|(expected, got)| expected == got).count()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.trace {
            Trace::End(step) => write!(f, "the end of `{step}`")?,
            Trace::Output(step) => write!(f, "the output of `{step}`")?,
            Trace::Artifact(step, name) => {
                write!(f, "the file `{}` of `{step}`", name.escape_debug())?;
            }
            Trace::File(name) => {
                write!(f, "the file `{}` in the working directory", name.escape_debug())?;
            }
            Trace::Observed => write!(f, "what was observed")?,
        }
        let at = self.at();
        let shown = |value: &Option<Vec<u8>>| {
            value.as_deref().map_or_else(|| "nothing".to_owned(), |bytes| excerpt(bytes, at))
        };
        if self.expected.is_some() && self.got.is_some() && at > 0 {
            write!(f, ", from byte {at} on")?;
        }
        write!(f, "\n    expected: {}", shown(&self.expected))?;
        write!(f, "\n    got:      {}", shown(&self.got))
    }
}

/// The part of a value around a byte, on one line.
fn excerpt(bytes: &[u8], at: usize) -> String {
    let from = if bytes.len() > SHOWN_BYTES { at.saturating_sub(SHOWN_BEFORE_BYTES) } else { 0 };
    let to = bytes.len().min(from + SHOWN_BYTES);
    let text = escaped(&String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default()));
    let before = if from > 0 { "... " } else { "" };
    let after = if to < bytes.len() { " ..." } else { "" };
    format!("{before}{text}{after}")
}

/// A text on one line, without what could move a cursor or turn a direction. Quotes and
/// backslashes stay as they are: they are usual in JSON.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' | '\'' | '\\' => escaped.push(char),
            _ => escaped.extend(char.escape_debug()),
        }
    }
    escaped
}

/// The files below a run's working directory, by their path there, without what an attempt staged.
fn files(work_dir: &Path) -> Result<BTreeMap<String, Vec<u8>>, Unreadable> {
    let (mut open, mut found) = (vec![String::new()], BTreeMap::new());
    while let Some(below) = open.pop() {
        let dir = work_dir.join(&below);
        let names = match RealDisk.list(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            listed => listed.map_err(|error| (dir.clone(), error))?,
        };
        for name in names.into_iter().filter(|name| !(below.is_empty() && name == ".staging")) {
            let path = dir.join(&name);
            let below = if below.is_empty() { name } else { format!("{below}/{name}") };
            let kind = RealDisk.metadata(&path).map_err(|error| (path.clone(), error))?;
            if kind.is_dir {
                open.push(below);
            } else if kind.is_symlink {
                found.insert(below, b"a symbolic link".to_vec());
            } else {
                let bytes = read_all(&RealDisk, &path).map_err(|error| (path.clone(), error))?;
                found.insert(below, bytes);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &[u8], got: &[u8], shown: &str) {
        let some = |bytes: &[u8]| (!bytes.is_empty()).then(|| bytes.to_vec());
        let trace = Trace::File("x".to_owned());
        let difference = Difference { trace, expected: some(expected), got: some(got) };
        let said = difference.to_string();
        assert_eq!(said.strip_prefix("the file `x` in the working directory").unwrap(), shown);
    }

    #[test]
    fn a_difference_is_shown_where_it_begins_and_harmless() {
        check(b"1", b"2", "\n    expected: 1\n    got:      2");
        check(b"", b"2", "\n    expected: nothing\n    got:      2");
        check(b"a\tb", b"a\nb", ", from byte 1 on\n    expected: a\\tb\n    got:      a\\nb");
        check(
            b"\"\x1b[2J",
            b"\"\xff",
            ", from byte 1 on\n    expected: \"\\u{1b}[2J\n    got:      \"\u{fffd}",
        );
        let long = |end: &str| "0123456789".repeat(50) + end;
        let tail = "0123456789".repeat(3);
        let shown = format!(
            ", from byte 500 on\n    expected: ... {tail}x\n    got:      ... {tail}y{} ...",
            "0123456789".repeat(8) + "012345678"
        );
        check(long("x").as_bytes(), (long("y") + &long("")).as_bytes(), &shown);
    }
}
