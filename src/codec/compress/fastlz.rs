//! FastLZ, php-memcached's default, read only: literal runs and copies of what was already read, two levels.

/// Copies reach this far back before level 2 has two more bytes for the distance.
const NEAR: usize = 8191;

/// The plain bytes, of which there are `size`; `None` when the block is damaged.
pub(super) fn inflate(block: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut input = Input(block);
    let mut plain = Vec::new();
    let first = input.byte()?;
    // The level stands in the first control byte, which is always one of a literal run.
    let far = match first >> 5 {
        0 => false,
        1 => true,
        _ => return None,
    };
    let mut control = first & 31;
    loop {
        if control < 32 {
            plain.extend_from_slice(input.take(usize::from(control) + 1)?);
        } else {
            let (distance, length) = input.copy(control, far)?;
            let start = plain.len().checked_sub(distance)?;
            if length > size - plain.len() {
                return None;
            }
            // It may run into what it makes itself.
            for at in start..start + length {
                plain.push(*plain.get(at)?);
            }
        }
        if plain.len() > size {
            return None;
        }
        if input.0.is_empty() {
            return Some(plain).filter(|plain| plain.len() == size);
        }
        control = input.byte()?;
    }
}

/// What is still to be read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// How far back a copy begins, and its length.
    fn copy(&mut self, control: u8, far: bool) -> Option<(usize, usize)> {
        const LONG: usize = 7;
        const FARTHEST: usize = 31 << 8;
        let mut length = usize::from(control >> 5);
        if length == LONG {
            loop {
                let more = self.byte()?;
                length += usize::from(more);
                if !far || more != u8::MAX {
                    break;
                }
            }
        }
        let high = usize::from(control & 31) << 8;
        let low = self.byte()?;
        let distance = if far && low == u8::MAX && high == FARTHEST {
            (usize::from(self.byte()?) << 8) + usize::from(self.byte()?) + NEAR
        } else {
            high + usize::from(low)
        };
        Some((distance + 1, length + 2))
    }
}
