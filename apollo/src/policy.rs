//! How a step is treated: retry, need, durability; and the arithmetic of waiting.
//!
//! It is not a timer: it says how long to wait, never waits.
//!
//! **Invariant:** everything here is pure; the only randomness, jitter, comes in as a number.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Whether a task can succeed without a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// The task fails when the step fails.
    Required,
    /// The step may fail for good; its dependents then get `None`.
    Optional,
}

/// When a record counts as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Synced before anything is built on it: survives a power cut.
    #[default]
    Always,
    /// Written at once, synced up to 64 records or 50 ms later: survives `kill -9`; a power cut
    /// may cost the last records.
    Batch,
}

/// How the wait grows from one retry to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// No retry at all.
    #[default]
    None,
    /// The same wait each time.
    Fixed,
    /// Twice the wait each time.
    Exponential,
}

/// What `once` does when a crash left it unknown whether the effect happened, and no probe answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknown {
    /// Runs the effect again.
    #[default]
    Rerun,
    /// Takes it as having happened.
    Skip,
    /// Fails the attempt for good, so that a person looks.
    Fail,
}

/// A step's retry policy as it is written; what is left out, the task supplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retry {
    /// How the wait grows.
    pub backoff: Backoff,
    /// The largest number of retries in an epoch; the task's `max_retries` when `None`.
    pub max_retries: Option<u32>,
    /// The wait before the first retry; the task's `retry_delay` when `None`.
    pub delay: Option<Duration>,
    /// The longest wait.
    pub cap: Option<Duration>,
    /// Whether each wait is drawn from its upper half.
    pub jitter: bool,
}

/// A retry policy with nothing left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// How the wait grows.
    pub policy: Backoff,
    /// The largest number of retries in an epoch.
    pub max_retries: u32,
    /// The wait before the first retry, in milliseconds.
    pub delay_ms: u64,
    /// The longest wait, in milliseconds.
    pub cap_ms: Option<u64>,
    /// Whether each wait is drawn from its upper half.
    pub jitter: bool,
}

impl Retry {
    /// No retry.
    pub const NONE: Self =
        Self { backoff: Backoff::None, max_retries: None, delay: None, cap: None, jitter: false };

    /// Fills what was left open from the task's settings.
    #[must_use]
    pub fn resolve(self, max_retries: u32, delay: Duration) -> RetryPolicy {
        let max_retries = match self.backoff {
            Backoff::None => 0,
            Backoff::Fixed | Backoff::Exponential => self.max_retries.unwrap_or(max_retries),
        };
        RetryPolicy {
            policy: self.backoff,
            max_retries,
            delay_ms: millis(self.delay.unwrap_or(delay)),
            cap_ms: self.cap.map(millis),
            jitter: self.jitter,
        }
    }
}

impl RetryPolicy {
    /// The wait before the `n`-th retry of an epoch, counted from 1, or `None` when there is none.
    ///
    /// `draw` is a random number; it matters only with jitter, which takes the wait from its
    /// upper half.
    #[must_use]
    pub fn wait(&self, n: u32, draw: u64) -> Option<Duration> {
        if n == 0 || n > self.max_retries {
            return None;
        }
        let factor = match self.policy {
            Backoff::None => return None,
            Backoff::Fixed => 1,
            Backoff::Exponential => 1_u64.checked_shl(n - 1).unwrap_or(u64::MAX),
        };
        let whole =
            self.delay_ms.saturating_mul(factor).min(self.cap_ms.unwrap_or(LONGEST_WAIT_MS));
        let half = whole / 2;
        let wait = if self.jitter { whole - draw % (half + 1) } else { whole };
        Some(Duration::from_millis(wait))
    }
}

/// A wait without a cap still ends some day: a year, in milliseconds.
const LONGEST_WAIT_MS: u64 = 365 * 24 * 3600 * 1000;

/// A duration in whole milliseconds; what is longer than `u64` holds is its largest value.
#[must_use]
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(retry: Retry, expected_ms: &[u64]) {
        let policy = retry.resolve(3, Duration::from_secs(10));
        let waits: Vec<_> = (1..).map_while(|n| policy.wait(n, 0)).map(millis).take(99).collect();
        assert_eq!(waits, expected_ms);
    }

    #[test]
    fn waits_follow_the_contract() {
        check(Retry::NONE, &[]);
        let fixed = Retry { backoff: Backoff::Fixed, ..Retry::NONE };
        check(fixed, &[10_000, 10_000, 10_000]);
        let growing = Retry { backoff: Backoff::Exponential, ..Retry::NONE };
        check(growing, &[10_000, 20_000, 40_000]);
        let cap = Some(Duration::from_secs(25));
        check(Retry { cap, max_retries: Some(4), ..growing }, &[10_000, 20_000, 25_000, 25_000]);
    }

    #[test]
    fn jitter_stays_in_the_upper_half_and_huge_retries_do_not_overflow() {
        let retry = Retry { backoff: Backoff::Exponential, jitter: true, ..Retry::NONE };
        let policy =
            RetryPolicy { max_retries: u32::MAX, ..retry.resolve(3, Duration::from_secs(1)) };
        for draw in [0, 1, 999, u64::MAX] {
            let wait = policy.wait(2, draw).unwrap();
            assert!((1000..=2000).contains(&millis(wait)), "{wait:?}");
        }
        assert_eq!(policy.wait(200, 0), Some(Duration::from_millis(LONGEST_WAIT_MS)));
    }
}
