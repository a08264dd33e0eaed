//! [`Inode`]: one simulated file: its bytes, its room, and who has it open.
//!
//! It is not its names: it may have several, or none and still be open.
//!
//! **Invariant:** a lock belongs to one opening, and ends with it.

use super::content::Content;

/// A file.
#[derive(Debug, Default)]
pub(super) struct Inode {
    pub(super) content: Content,
    /// Its length, or up to where room is reserved.
    pub(super) taken_bytes: u64,
    openings: Vec<Opening>,
}

#[derive(Debug)]
struct Opening {
    number: u64,
    process: u64,
    lock: Lock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    None,
    Shared,
    Exclusive,
}

impl Inode {
    pub(super) fn is_open(&self) -> bool {
        !self.openings.is_empty()
    }

    pub(super) fn open(&mut self, number: u64, process: u64) {
        self.openings.push(Opening { number, process, lock: Lock::None });
    }

    pub(super) fn close(&mut self, number: u64) {
        self.openings.retain(|opening| opening.number != number);
    }

    /// Closes what processes had open that are over; tells whether that was anything.
    pub(super) fn end(&mut self, is_over: impl Fn(u64) -> bool) -> bool {
        let before = self.openings.len();
        self.openings.retain(|opening| !is_over(opening.process));
        self.openings.len() < before
    }

    /// Gives an opening a lock, unless another one has a lock that excludes it.
    pub(super) fn lock(&mut self, number: u64, wanted: Lock) -> bool {
        let excludes = |opening: &Opening| match (opening.lock, wanted) {
            (Lock::None, _) | (_, Lock::None) | (Lock::Shared, Lock::Shared) => false,
            (Lock::Exclusive, _) | (_, Lock::Exclusive) => true,
        };
        let others = self.openings.iter().filter(|opening| opening.number != number);
        let given = !others.into_iter().any(excludes);
        if given {
            let mine = self.openings.iter_mut().filter(|opening| opening.number == number);
            mine.for_each(|opening| opening.lock = wanted);
        }
        given
    }
}
