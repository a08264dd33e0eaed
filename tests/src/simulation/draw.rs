//! [`Draw`]: numbers that follow from a seed.

/// Numbers that follow from a seed (splitmix64): the same on every machine.
#[derive(Debug, Clone)]
pub struct Draw(u64);

impl Draw {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a limit, which is at least 1.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Whether the one time in so many has come.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
