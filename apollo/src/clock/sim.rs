//! [`SimClock`]: a clock that a test sets, and that jumps where a test says so; waits pass at once.
//!
//! It is not a model of a machine's clock: it stands still while code runs.
//!
//! **Invariant:** the monotonic hand never goes back, however the wall clock jumps.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Clock;
use crate::time::Timestamp;

/// A clock that stands still unless somebody waits, or a test moves it.
///
/// ```
/// use std::time::Duration;
///
/// use apollo::testing::SimClock;
/// use apollo::{Clock as _, Timestamp};
///
/// let at = |hour: i64| Timestamp::from_unix_us(hour * 3_600_000_000);
/// let clock = SimClock::new(at(12));
/// clock.set_wall_at(2, at(11));
/// assert_eq!(clock.block_for(Duration::from_secs(3600)), Duration::ZERO);
/// assert_eq!(clock.now(), at(13));
/// assert_eq!(clock.now(), at(11), "an hour back, at the second reading");
/// assert_eq!(clock.monotonic(), Duration::from_secs(3600));
/// ```
#[derive(Debug)]
pub struct SimClock {
    hands: Mutex<Hands>,
}

#[derive(Debug)]
struct Hands {
    wall: Timestamp,
    monotonic: Duration,
    /// How often the wall clock was read.
    readings: u64,
    /// What the wall is set to, and at which reading.
    jumps: Vec<(u64, Timestamp)>,
}

impl SimClock {
    /// A clock whose wall shows this moment.
    #[must_use]
    pub const fn new(wall: Timestamp) -> Self {
        let hands = Hands { wall, monotonic: Duration::ZERO, readings: 0, jumps: Vec::new() };
        Self { hands: Mutex::new(hands) }
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

    /// Sets the wall clock in the moment before it is read for the `reading`-th time, from 1, so
    /// that a test can let it jump at each of its readings in turn.
    pub fn set_wall_at(&self, reading: u64, wall: Timestamp) {
        self.with(|hands| hands.jumps.push((reading, wall)));
    }

    /// How often the wall clock was read.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.with(|hands| hands.readings)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Hands) -> T) -> T {
        act(&mut self.hands.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.with(|hands| {
            hands.readings += 1;
            let due = hands.jumps.iter().rev().find(|(reading, _)| *reading == hands.readings);
            hands.wall = due.map_or(hands.wall, |(_, wall)| *wall);
            hands.wall
        })
    }

    fn monotonic(&self) -> Duration {
        self.with(|hands| hands.monotonic)
    }

    fn block_for(&self, wait: Duration) -> Duration {
        self.advance(wait);
        Duration::ZERO
    }
}
