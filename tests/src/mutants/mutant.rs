//! [`Mutant`]: one deliberate break of the protocol, as a change of the sources.
//!
//! It is not applied here: that is done in a workshop.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// What the name of its file ends in.
const END: &str = ".mutant";

/// One deliberate break of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// What is broken: the name of its file.
    pub name: String,
    /// Why that matters.
    pub why: String,
    /// Who has to notice it.
    pub judge: Judge,
    /// What is changed; never empty.
    pub changes: Vec<Change>,
}

/// Who has to notice a mutant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judge {
    /// The simulation, by any of its checks.
    Simulation,
    /// Tests: what `cargo` is told.
    Tests(String),
}

/// A change of one place in one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The source, below the root of the workspace.
    pub file: PathBuf,
    /// The whole lines that stand there.
    pub before: String,
    /// Those that take their place.
    pub after: String,
}

impl Mutant {
    /// All of them, by their names.
    ///
    /// # Errors
    /// The file that is no mutant, and why.
    pub fn all() -> Result<Vec<Self>, String> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("mutants");
        let unread = |error| format!("{}: {error}", dir.display());
        let mut mutants = Vec::new();
        for entry in fs::read_dir(&dir).map_err(unread)? {
            let path = entry.map_err(unread)?.path();
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let refused = |why: String| format!("{}: {why}", path.display());
            let name = file.strip_suffix(END);
            let name = name.ok_or_else(|| refused(format!("its name does not end in {END}")))?;
            let text = fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?;
            mutants.push(Self::parse(name, &text).map_err(refused)?);
        }
        mutants.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(mutants)
    }

    /// Reads one from its text.
    ///
    /// # Errors
    /// What is missing, or the line that has no place.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let (mut why, mut judge, mut file) = (Vec::new(), Judge::Simulation, None);
        let mut changes: Vec<Change> = Vec::new();
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("file: ") {
                file = Some(PathBuf::from(path));
            } else if let Some(told) = line.strip_prefix("judge: cargo ") {
                judge = Judge::Tests(told.to_owned());
            } else if line == "@@" {
                let file = file.clone().ok_or("a change before the name of its file")?;
                changes.push(Change { file, before: String::new(), after: String::new() });
            } else if let Some(change) = changes.last_mut() {
                change.take(line)?;
            } else {
                why.push(line);
            }
        }
        let why = why.join("\n").trim().to_owned();
        if why.is_empty() {
            return Err("it does not say why it matters".to_owned());
        }
        match changes.iter().find(|change| change.before == change.after) {
            Some(change) => Err(format!("a change of {} changes nothing", change.file.display())),
            None if changes.is_empty() => Err("it changes nothing".to_owned()),
            None => Ok(Self { name: name.to_owned(), why, judge, changes }),
        }
    }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulation => f.write_str("the simulation"),
            Self::Tests(told) => write!(f, "`cargo {told}`"),
        }
    }
}

impl Change {
    /// A source with this change.
    ///
    /// # Errors
    /// When the lines stand in it not exactly once.
    pub fn applied(&self, source: &str) -> Result<String, String> {
        let begins = |at: usize| at == 0 || source[..at].ends_with('\n');
        let found = source.match_indices(&self.before).map(|(at, _)| at);
        let found: Vec<_> = found.filter(|at| begins(*at)).collect();
        let &[at] = found.as_slice() else {
            let (times, before) = (found.len(), &self.before);
            return Err(format!("{} has {times} times, not once:\n{before}", self.file.display()));
        };
        let (head, tail) = source.split_at(at);
        Ok([head, &self.after, &tail[self.before.len()..]].concat())
    }

    /// Takes the next line of its text.
    fn take(&mut self, line: &str) -> Result<(), String> {
        let (mark, code) = line.split_at_checked(1).unwrap_or((" ", ""));
        let (stands_before, stands_after) = match mark {
            " " => (true, true),
            "-" => (true, false),
            "+" => (false, true),
            _ => return Err(format!("a line of a change begins with ` `, `-` or `+`: {line}")),
        };
        for (stands, text) in [(stands_before, &mut self.before), (stands_after, &mut self.after)] {
            if stands {
                text.push_str(code);
                text.push('\n');
            }
        }
        Ok(())
    }
}
