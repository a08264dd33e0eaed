//! [`Chance`]: what is left to chance, out of a seed (splitmix64).
//!
//! It is not random: the same seed gives the same choices.

/// A sequence of choices.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where that is 0.
    #[expect(clippy::cast_possible_truncation, reason = "what is below a usize is a usize")]
    pub(super) const fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// Yes, once in so many times.
    pub(super) const fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
