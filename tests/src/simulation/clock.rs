//! [`StageClock`]: a simulated clock that one thread alone lets pass.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use apollo::testing::SimClock;
use apollo::{Clock, Timestamp};

use crate::child::PATIENCE;

/// When every run of a simulation begins: a moment in 2026.
const BEGIN_UNIX_US: i64 = 1_794_000_000_000_000;

/// A clock that jumps ahead when the thread that runs the task waits. The other threads of a run
/// really wait, until they are woken, so that they add nothing to its course.
#[derive(Debug)]
pub struct StageClock {
    hands: SimClock,
    director: Mutex<Option<ThreadId>>,
}

impl Default for StageClock {
    fn default() -> Self {
        let hands = SimClock::new(Timestamp::from_unix_us(BEGIN_UNIX_US));
        Self { hands, director: Mutex::new(None) }
    }
}

impl StageClock {
    /// This thread runs the task from now on.
    pub fn direct(&self) {
        *self.director.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(thread::current().id());
    }

    /// Sets the wall clock forward, or back; no time passes.
    pub fn jump(&self, by_s: i64) {
        let jumped = self.hands.now().unix_us() + by_s * 1_000_000;
        self.hands.set_wall(Timestamp::from_unix_us(jumped));
    }
}

impl Clock for StageClock {
    fn now(&self) -> Timestamp {
        self.hands.now()
    }

    fn monotonic(&self) -> Duration {
        self.hands.monotonic()
    }

    fn block_for(&self, wait: Duration) -> Duration {
        let director = *self.director.lock().unwrap_or_else(PoisonError::into_inner);
        if director == Some(thread::current().id()) { self.hands.block_for(wait) } else { PATIENCE }
    }
}
