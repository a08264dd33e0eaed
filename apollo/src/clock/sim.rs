//! [`SimClock`]: a clock that a test sets; waits pass at once.

#![cfg_attr(
    not(feature = "testing"),
    expect(unreachable_pub, dead_code, reason = "public with the feature; else for unit tests")
)]

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Clock;
use crate::time::Timestamp;

/// A clock that stands still unless somebody waits, or a test moves it.
#[derive(Debug)]
pub struct SimClock {
    hands: Mutex<Hands>,
}

#[derive(Debug, Clone, Copy)]
struct Hands {
    wall: Timestamp,
    monotonic: Duration,
}

impl SimClock {
    /// A clock whose wall shows this moment.
    #[must_use]
    pub fn new(wall: Timestamp) -> Self {
        Self { hands: Mutex::new(Hands { wall, monotonic: Duration::ZERO }) }
    }

    /// Lets time pass on both hands.
    pub fn advance(&self, by: Duration) {
        self.with(|hands| {
            hands.monotonic += by;
            hands.wall = hands.wall.after(by);
        });
    }

    /// Sets the wall clock, as an administrator or a time server does; no time passes.
    pub fn set_wall(&self, wall: Timestamp) {
        self.with(|hands| hands.wall = wall);
    }

    fn with<T>(&self, act: impl FnOnce(&mut Hands) -> T) -> T {
        act(&mut self.hands.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.with(|hands| hands.wall)
    }

    fn monotonic(&self) -> Duration {
        self.with(|hands| hands.monotonic)
    }

    fn block_for(&self, wait: Duration) -> Duration {
        self.advance(wait);
        Duration::ZERO
    }
}
