//! Seeded chance for scripted trouble and tests: the same seed gives the same rolls.

use std::ops::Range;
use std::time::Duration;

/// A sequence of rolls (splitmix64): the same seed gives the same ones, on every machine.
///
/// What the [`Proxy`](super::Proxy) rolls, for the choices of a test of one's own.
///
/// ```
/// let mut dice = mcpool::testing::Dice::new(7);
/// let key = format!("key{}", dice.below(100));
/// let unlucky = dice.roll(0.1);
/// # let _ = (key, unlucky);
/// ```
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The sequence that belongs to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice of their own for another thread.
    pub(super) fn split(&mut self) -> Self {
        Self(self.next())
    }

    /// True with this chance, from 0 to 1.
    pub fn roll(&mut self, chance: f64) -> bool {
        // The chance on a scale of 32 bits; the cast saturates.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=1"
        )]
        let limit = (chance.clamp(0.0, 1.0) * 4_294_967_296.0) as u64;
        (self.next() >> 32) < limit
    }

    /// A number from 0 to below `n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % n).unwrap_or(0)
    }

    /// A time within the range; its start when it is empty.
    pub fn within(&mut self, range: &Range<Duration>) -> Duration {
        let width = range.end.saturating_sub(range.start);
        let permille = u32::try_from(self.next() % 1000).unwrap_or(0);
        range.start + width / 1000 * permille
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_rolls_and_chances_hold() {
        let rolls = |seed| {
            let mut dice = Dice::new(seed);
            (0..1000).map(|_| dice.roll(0.3)).collect::<Vec<_>>()
        };
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(rolls(1), rolls(2));
        let hits = rolls(3).into_iter().filter(|hit| *hit).count();
        assert!((230..370).contains(&hits), "{hits} of 1000");
        let mut dice = Dice::new(4);
        assert!((0..1000).all(|_| !dice.roll(0.0)) && (0..1000).all(|_| dice.roll(1.0)));
        let range = Duration::from_millis(2)..Duration::from_millis(5);
        assert!((0..1000).all(|_| range.contains(&dice.within(&range)) && dice.below(7) < 7));
    }
}
