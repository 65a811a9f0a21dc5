//! Finds the keys that a call names more than once.

use std::hash::{BuildHasher, RandomState};

/// Numbers of keys, found by their bytes: a table with at least two slots for each, so that most keys find theirs free.
#[derive(Debug)]
pub(super) struct Seen {
    /// A number plus one, or 0 where the slot is free.
    slots: Vec<usize>,
    /// Another one for every call: nobody can choose keys that share a slot.
    seed: u64,
}

impl Seen {
    pub(super) fn with_room_for(keys: usize) -> Self {
        let slots = vec![0; (2 * keys).next_power_of_two()];
        Self { slots, seed: RandomState::new().hash_one(keys) }
    }

    /// The number under which the same key was seen; else it is seen as `number` from now on.
    ///
    /// Only numbers of keys with the same bytes need to pass `is_same`.
    #[inline]
    pub(super) fn find_or_add(
        &mut self,
        bytes: &[u8],
        number: usize,
        is_same: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash(self.seed, bytes);
        while let Some(slot) = self.slots.get_mut(at & mask) {
            match slot.checked_sub(1) {
                Some(seen) if is_same(seen) => return Some(seen),
                Some(_) => at = at.wrapping_add(1),
                None => {
                    *slot = number + 1;
                    break;
                }
            }
        }
        None
    }
}

/// Eight bytes at a time: both halves of a product with what came before.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves of a product, and a place by the low bits"
)]
#[inline]
fn hash(seed: u64, bytes: &[u8]) -> usize {
    // An odd number without a pattern: the fraction of the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        product as u64 ^ (product >> 64) as u64
    };
    let words = bytes.chunks_exact(8);
    let tail = words.remainder().iter().fold(1, |word, byte| word << 8 | u64::from(*byte));
    let state =
        words.filter_map(|word| word.try_into().ok().map(u64::from_le_bytes)).fold(seed, mix);
    mix(state, tail) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_number_however_many_share_its_slot() {
        let keys: Vec<String> = (0..500).map(|n| format!("{}{n}", "k".repeat(n % 20))).collect();
        let mut seen = Seen::with_room_for(keys.len());
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(seen.find_or_add(key.as_bytes(), number, |n| keys[n] == *key), None);
        }
        for (number, key) in keys.iter().enumerate() {
            let same = |n: usize| keys[n] == *key;
            assert_eq!(seen.find_or_add(key.as_bytes(), 999, same), Some(number));
        }
    }

    #[test]
    fn keys_are_spread_and_a_seed_spreads_them_anew() {
        let slots = |seed: u64| {
            let places = (0..1000).map(|n| hash(seed, format!("user:{n}:name").as_bytes()) % 4096);
            places.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(slots(1).len() > 800, "{} of 1000", slots(1).len());
        assert_ne!(slots(1), slots(2));
    }
}
