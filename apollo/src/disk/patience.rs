//! Patience: how long one waits for a lock that another process has.
//!
//! It is not a wait for the holder's work: a holder that is about to end is given a second, and so
//! is a child of this process that has a copy of a lock's descriptor until it executes its program.
//!
//! **Invariant:** time is the caller's clock; where that jumps, real holders get a moment each time.

use std::time::Duration;

use crate::clock::Clock;

/// How long a lock is asked for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often.
const INTERVAL: Duration = Duration::from_millis(20);

/// The least that a try is apart from the next one, whatever the clock says.
const MOMENT: Duration = Duration::from_millis(1);

/// Asks for a lock until it is given; `None` when somebody else still has it after a second.
///
/// # Errors
/// The first error of `ask`.
pub(crate) fn patiently<T, E>(
    clock: &dyn Clock,
    mut ask: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let deadline = clock.monotonic() + PATIENCE;
    loop {
        if let Some(given) = ask()? {
            return Ok(Some(given));
        }
        if clock.monotonic() >= deadline {
            return Ok(None);
        }
        pause(clock);
    }
}

/// Lets some time pass.
fn pause(clock: &dyn Clock) {
    let until = clock.monotonic() + INTERVAL;
    loop {
        let left = until.saturating_sub(clock.monotonic());
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(clock.block_for(left).max(MOMENT));
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::clock::SimClock;
    use crate::time::Timestamp;

    fn check(given_at: u32, expected: Option<u32>, waited: Duration) {
        let clock = SimClock::new(Timestamp::from_unix_us(0));
        let mut asked = 0;
        let given = patiently(&clock, || {
            asked += 1;
            io::Result::Ok((asked == given_at).then_some(asked))
        });
        assert_eq!((given.unwrap(), clock.monotonic()), (expected, waited));
    }

    #[test]
    fn a_holder_that_is_about_to_end_is_waited_for() {
        check(1, Some(1), Duration::ZERO);
        check(3, Some(3), 2 * INTERVAL);
        check(0, None, PATIENCE);
    }

    #[test]
    fn what_can_never_be_locked_is_told_at_once() {
        let clock = SimClock::new(Timestamp::from_unix_us(0));
        let refused = || io::Result::<Option<()>>::Err(io::ErrorKind::Unsupported.into());
        assert!(patiently(&clock, refused).is_err());
        assert_eq!(clock.monotonic(), Duration::ZERO);
    }
}
