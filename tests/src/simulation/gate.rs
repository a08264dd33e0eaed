//! [`Gate`]: lets bodies that run side by side go on one at a time, in an order drawn from a seed.
//!
//! It is not a scheduler: which bodies run is the engine's decision; here only their order is drawn,
//! so that a parallel run can be repeated.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::draw::Draw;

/// How often a body that waits looks whether its process has ended meanwhile.
const LOOK: Duration = Duration::from_millis(1);

/// Lets bodies go on one at a time.
#[derive(Debug)]
pub struct Gate {
    inside: Mutex<Inside>,
    bell: Condvar,
}

#[derive(Debug)]
struct Inside {
    draw: Draw,
    /// How many attempts are open in the log.
    open: usize,
    waiting: BTreeSet<String>,
    /// The body that may go on, until the end of its attempt is on record.
    released: Option<String>,
}

impl Gate {
    /// A gate whose order follows from a seed.
    pub fn new(seed: u64) -> Self {
        let (draw, waiting) = (Draw::new(seed), BTreeSet::new());
        let inside = Inside { draw, open: 0, waiting, released: None };
        Self { inside: Mutex::new(inside), bell: Condvar::new() }
    }

    /// A new process begins.
    pub fn reset(&self) {
        let mut inside = self.lock();
        inside.waiting.clear();
        (inside.open, inside.released) = (0, None);
    }

    /// The log has a commit more: so many attempts are open, and these have ended.
    pub fn committed(&self, open: usize, ended: Option<&str>) {
        let mut inside = self.lock();
        inside.open = open;
        if inside.released.as_deref() == ended {
            inside.released = None;
        }
        inside.release();
        self.bell.notify_all();
    }

    /// Waits until it is this body's turn, or until `is_over` says that nothing matters any more.
    pub fn pass(&self, step: &str, is_over: &dyn Fn() -> bool) {
        let mut inside = self.lock();
        inside.waiting.insert(step.to_owned());
        inside.release();
        self.bell.notify_all();
        while inside.released.as_deref() != Some(step) {
            let waited = self.bell.wait_timeout(inside, LOOK);
            inside = waited.unwrap_or_else(PoisonError::into_inner).0;
            if is_over() {
                inside.waiting.remove(step);
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Draws the next one when everybody has come and nobody is under way.
    fn release(&mut self) {
        if self.released.is_none() && !self.waiting.is_empty() && self.waiting.len() == self.open {
            let drawn = self.draw.below(self.waiting.len() as u64) as usize;
            let step = self.waiting.iter().nth(drawn).cloned();
            self.waiting.retain(|other| Some(other) != step.as_ref());
            self.released = step;
        }
    }
}
