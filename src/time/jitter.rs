//! Times spread at random, so that many clients do not probe at one moment.

use std::time::Duration;

/// A small generator (xorshift64*): spreads well enough, and repeats from its seed.
#[derive(Debug)]
pub(crate) struct Jitter(u64);

impl Jitter {
    /// Where it begins: near seeds give different times.
    pub(crate) fn new(seed: u64) -> Self {
        // Similar seeds start far apart, and none at zero, where the generator would stay.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1))
    }

    /// A time within a fifth of `about` to either side, and not above `max`.
    pub(crate) fn spread(&mut self, about: Duration, max: Duration) -> Duration {
        let low = about - about / 5;
        let high = about.saturating_add(about / 5).min(max).max(low);
        low + self.below(high - low)
    }

    /// Any time from zero to not quite `most`.
    pub(crate) fn below(&mut self, most: Duration) -> Duration {
        // A 65536th is fine enough.
        most / (1 << 16) * u32::from(self.random())
    }

    fn random(&mut self) -> u16 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        // The high bits are the good ones.
        let [.., b, a] = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes();
        u16::from_le_bytes([b, a])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fill_a_fifth_to_either_side() {
        let about = Duration::from_millis(1000);
        for seed in [0, 1, 2, u64::MAX] {
            let mut jitter = Jitter::new(seed);
            let times: Vec<u128> =
                (0..1000).map(|_| jitter.spread(about, Duration::MAX).as_millis()).collect();
            assert!(times.iter().all(|ms| (800..=1200).contains(ms)), "{times:?}");
            assert!(times.iter().any(|ms| *ms < 820) && times.iter().any(|ms| *ms > 1180));
            let mean = times.iter().sum::<u128>() / 1000;
            assert!((980..=1020).contains(&mean), "{mean}");
        }
    }

    #[test]
    fn neighbouring_seeds_give_different_times() {
        let times = [0, 1, 2, 3]
            .map(|seed| Jitter::new(seed).spread(Duration::from_secs(1), Duration::MAX));
        assert!((1..4).all(|i| times[i] != times[i - 1]), "{times:?}");
    }

    #[test]
    fn the_longest_time_is_kept_and_extremes_are_no_trouble() {
        let mut jitter = Jitter::new(7);
        let second = Duration::from_secs(1);
        for _ in 0..1000 {
            assert!(jitter.spread(second, second) <= second);
        }
        assert_eq!(jitter.spread(Duration::ZERO, second), Duration::ZERO);
        assert!(jitter.spread(Duration::MAX, Duration::MAX) > second);
    }
}
