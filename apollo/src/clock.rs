//! [`Clock`]: what time it is and how long things take. The only file that asks the machine.
//!
//! It is not a timer: who has to wait blocks on its own condition and asks here for how long.
//!
//! **Invariant:** durations and waits come from [`Clock::monotonic`]; the wall clock may jump and
//! only makes timestamps.

#[cfg(feature = "testing")]
mod sim;

use std::fmt;
use std::time::Duration;

use crate::time::Timestamp;

#[cfg(feature = "testing")]
pub use sim::SimClock;

/// A door to the machine's clocks.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The wall clock.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;

    /// How long a thread should really block so that `wait` passes on this clock; a simulated
    /// clock jumps ahead and answers nothing.
    fn block_for(&self, wait: Duration) -> Duration;
}

/// The machine's own clocks.
#[derive(Debug)]
pub struct SystemClock {
    origin: std::time::Instant,
}

impl Default for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this file is the door to the clock")]
    fn default() -> Self {
        Self { origin: std::time::Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this file is the door to the clock")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let since = since.unwrap_or_default();
        Timestamp::from_unix_us(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    fn block_for(&self, wait: Duration) -> Duration {
        wait
    }
}
