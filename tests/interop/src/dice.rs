//! Chance from a seed: the same run again with `MCPOOL_SEED`.

use std::env;

/// A sequence of numbers (xorshift), the same for the same seed and purpose.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// One sequence for each purpose, so that tests do not depend on each other's order.
    #[must_use]
    pub fn new(purpose: &str) -> Self {
        let seed = env::var("MCPOOL_SEED").unwrap_or_default();
        let bytes = seed.bytes().chain(purpose.bytes());
        // FNV-1a, to spread texts over the numbers.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Self(hash | 1)
    }

    /// All 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        let span = u64::try_from(high - low + 1).expect("a number of 64 bits");
        low + usize::try_from((self.bits() >> 11) % span).expect("below high")
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.bits().to_le_bytes()[7]).collect()
    }

    /// That many of them, in any order.
    pub fn some<T: Clone>(&mut self, of: &[T], count: usize) -> Vec<T> {
        let mut left = of.to_vec();
        (0..count).map(|_| left.swap_remove(self.between(0, left.len() - 1))).collect()
    }

    /// A text without blanks and control characters, of `length` characters.
    pub fn text(&mut self, letters: Letters, length: usize) -> String {
        (0..length).map(|_| self.letter(letters)).collect()
    }

    fn letter(&mut self, letters: Letters) -> char {
        let (low, high) = match letters {
            Letters::Ascii => ('!', '~'),
            // Two, three and four bytes long.
            Letters::Unicode => match self.between(0, 4) {
                0 => ('À', 'ÿ'),
                1 => ('一', '龥'),
                2 => ('😀', '😿'),
                _ => ('!', '~'),
            },
        };
        let code = self.between(low as usize, high as usize);
        u32::try_from(code).ok().and_then(char::from_u32).expect("no range has a gap")
    }
}

/// What keys are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// Every printable ASCII character but the blank.
    Ascii,
    /// Others too.
    Unicode,
}
