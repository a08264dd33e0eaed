//! [`Judged`]: the logs that a storm leaves, for the independent reader.

use crate::dir::Dir;
use crate::log::{Judgement, judge};

/// How many are judged together: its interpreter starts as slowly as a storm blows.
const AT_ONCE: usize = 20;

/// Directories whose logs wait to be judged; each is removed afterwards.
#[derive(Debug, Default)]
pub struct Judged {
    waiting: Vec<Dir>,
    /// How many logs were judged.
    logs: usize,
}

impl Judged {
    /// Takes a directory that nobody works in any more.
    ///
    /// # Panics
    /// With the reader's words, when a rule is broken in one of those that waited.
    pub fn add(&mut self, dir: Dir) {
        self.waiting.push(dir);
        if self.waiting.len() == AT_ONCE {
            self.judge();
        }
    }

    /// Judges what waits, and says how much was judged in all.
    ///
    /// # Panics
    /// As [`Self::add`].
    pub fn finish(mut self) -> String {
        self.judge();
        match self.logs {
            0 => "no independent reader is here".to_owned(),
            logs => format!("{logs} logs judged by the independent reader"),
        }
    }

    fn judge(&mut self) {
        let logs: Vec<_> = self.waiting.iter().flat_map(Dir::logs).collect();
        if judge(&logs) == Judgement::Content {
            self.logs += logs.len();
        }
        self.waiting.clear();
    }
}
