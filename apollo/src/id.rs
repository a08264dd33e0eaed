//! Checked names: tasks, steps, runs and the index of a step in its graph.
//!
//! It is not a place for path arithmetic: what a name becomes on disk is `store`'s business.
//!
//! **Invariant:** a value of these types keeps the alphabet of the contract, so a name that came
//! through [`StepId::parse`] is safe as a file name. Anything else is refused, never rewritten.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name that was refused, with the rule that it broke.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no {what}: {rule}", .text.escape_debug())]
#[non_exhaustive]
pub struct NameError {
    /// The text as it was given.
    pub text: String,
    /// The kind of name that was wanted.
    pub what: &'static str,
    /// The rule in words.
    pub rule: &'static str,
}

/// Defines a newtype over text whose only door is a checking `parse`.
macro_rules! checked_name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $holds:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            #[doc = concat!("Checks a text and makes it a ", $what, ".")]
            ///
            /// # Errors
            /// [`NameError`] with the rule when the text breaks it; nothing is rewritten.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                if $holds(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(NameError { text: text.to_owned(), what: $what, rule: $rule })
                }
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

checked_name! {
    /// The name of a task: what `task!` or a YAML file calls it.
    TaskName, "task name", "use 1 to 100 of A-Z a-z 0-9 _ - and dots, not starting with a dot or a dash", is_task_name
}
checked_name! {
    /// The logical instance of a task: by default its name and its parameters' values.
    TaskId, "task_id", "use 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot", is_task_id
}
checked_name! {
    /// The id of a step, unique in its task.
    StepId, "step id", "use 1 to 100 of A-Z a-z 0-9 _ . -, starting with a letter, a digit or _", is_step_id
}
checked_name! {
    /// The name of a run: `task_<task_id>_<start>`, which is the stem of its log file.
    RunId, "run id", "a run is named task_<task_id>_<start in Unix seconds>", is_run_id
}

impl RunId {
    /// Names the run of a task that starts at a time, in Unix seconds.
    #[must_use]
    pub fn new(task_id: &TaskId, start_unix_s: u64) -> Self {
        Self(format!("task_{task_id}_{start_unix_s}").into())
    }

    /// The task_id and the start (in Unix seconds) that the name holds.
    #[must_use]
    pub fn parts(&self) -> (TaskId, u64) {
        split_run_id(&self.0).unwrap_or_else(|| (TaskId(self.0.clone()), 0))
    }
}

/// The position of a step in its graph; indexes every table that has one entry for each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepIndex(pub u32);

impl StepIndex {
    /// The position as an index into a slice.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

fn is_task_name(text: &str) -> bool {
    text.len() <= 100 && is_task_id(text) && !text.starts_with('-')
}

fn is_task_id(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(is_word) && !text.starts_with('.')
}

fn is_step_id(text: &str) -> bool {
    (1..=100).contains(&text.len()) && text.bytes().all(is_word) && !text.starts_with(['.', '-'])
}

fn is_run_id(text: &str) -> bool {
    split_run_id(text).is_some()
}

fn split_run_id(text: &str) -> Option<(TaskId, u64)> {
    let (task_id, start) = text.strip_prefix("task_")?.rsplit_once('_')?;
    // One start has one name: no sign, no zero in front.
    let start_unix_s = start.parse().ok().filter(|number: &u64| number.to_string() == start)?;
    Some((TaskId::parse(task_id).ok()?, start_unix_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: (bool, bool)) {
        let seen = (TaskId::parse(text).is_ok(), StepId::parse(text).is_ok());
        assert_eq!(seen, expected, "(task_id, step id) of {text:?}");
    }

    #[test]
    fn names_that_could_leave_the_directory_are_refused() {
        for text in ["", "../x", "/etc", "a/b", ".hidden", "a\0b", "a b", "\u{fc}", "a\n"] {
            check(text, (false, false));
        }
        check(&"x".repeat(101), (true, false));
        check(&"x".repeat(129), (false, false));
        check("-x", (true, false));
        check("r.type_1-b", (true, true));
    }

    #[test]
    fn a_run_id_gives_back_its_task_id_and_start() {
        let id = TaskId::parse("daily_pipeline-2012-06-01").unwrap();
        let run = RunId::new(&id, 1_700_000_000);
        assert_eq!(RunId::parse(run.as_str()).unwrap().parts(), (id, 1_700_000_000));
        for text in ["task_x_y", "task_x_+1", "task_x_01", "task_x_", "task__1"] {
            assert!(RunId::parse(text).is_err(), "{text}");
        }
    }
}
