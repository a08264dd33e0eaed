//! [`Chance`]: the numbers of one disturbance, all from its seed; and [`Repeat`], which says the seed.

use std::time::Duration;

/// Numbers that a seed decides (splitmix64).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below a limit, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// A time shorter than a limit.
    pub fn shorter_than(&mut self, limit: Duration) -> Duration {
        let limit_us = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.below(limit_us.max(1)))
    }
}

/// Says, when a storm panics, which command meets the same disturbance again, and what the process
/// said that met it.
#[derive(Debug)]
pub struct Repeat {
    command: String,
    said: String,
}

impl Repeat {
    /// The arguments of the program `storm`.
    pub const fn new(command: String) -> Self {
        Self { command, said: String::new() }
    }

    /// Notes what the disturbed process said.
    pub fn said(&mut self, said: String) {
        self.said = said;
    }
}

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.said);
            let Self { command, said: _ } = self;
            println!("again: cargo run --release -p apollo-tests --bin storm -- {command}");
        }
    }
}
