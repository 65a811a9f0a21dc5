//! The MD5 of a text, and the first words of many short ones at once, which takes a fourth of the time.

/// How many texts are taken at once.
pub(super) const LANES: usize = 32;
/// Fewer are faster one by one.
const FEW: usize = 5;
/// The longest text that fits into one block beside the mark of its end and its length.
const SHORT: usize = 55;

/// The state before the first block (RFC 1321, section 3.3).
const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// The constants of the 64 steps (RFC 1321, section 3.4): 2^32 times the sines of 1 to 64, without their signs.
#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// The MD5 as four little-endian words.
pub(in crate::ring) fn md5_words(parts: &[&[u8]]) -> [u32; 4] {
    let mut context = md5::Context::new();
    parts.iter().for_each(|part| context.consume(part));
    let digest = u128::from_le_bytes(context.finalize().0);
    [0, 32, 64, 96].map(|shift| low_word(digest >> shift))
}

#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what is wanted")]
fn low_word(wide: u128) -> u32 {
    wide as u32
}

/// Gives the first word of the MD5 of each of up to [`LANES`] texts.
pub(super) fn first_words(texts: &[&[u8]], mut give: impl FnMut(u32)) {
    if texts.len() < FEW {
        return texts.iter().for_each(|text| give(md5_words(&[text])[0]));
    }
    let lanes = Lanes::of(texts).mixed(texts.len());
    for (text, word) in texts.iter().zip(lanes) {
        give(if text.len() <= SHORT { word } else { md5_words(&[text])[0] });
    }
}

/// A word with another byte at its low end.
fn shifted(word: u32, byte: &u8) -> u32 {
    (word << 8) | u32::from(*byte)
}

/// One word of each lane.
type Row = [u32; LANES];

/// The blocks of short texts, one in each lane.
struct Lanes([Row; 16]);

impl Lanes {
    /// A longer text leaves its lane empty.
    fn of(texts: &[&[u8]]) -> Self {
        let mut rows = [[0; LANES]; 16];
        for (lane, text) in texts.iter().enumerate().filter(|(_, text)| text.len() <= SHORT) {
            let mut put = |place: usize, word| {
                if let Some(slot) = rows.get_mut(place).and_then(|row| row.get_mut(lane)) {
                    *slot = word;
                }
            };
            let words = text.chunks_exact(4);
            // The mark of the end stands behind the last byte, the number of bits in the last two words.
            put(words.len(), words.remainder().iter().rev().fold(0x80, shifted));
            put(14, low_word(8 * text.len() as u128));
            words
                .enumerate()
                .for_each(|(place, word)| put(place, word.iter().rev().fold(0, shifted)));
        }
        Self(rows)
    }

    /// The first words of the digests in the first lanes.
    fn mixed(&self, lanes: usize) -> Row {
        let mut state = START.map(|word| [word; LANES]);
        // Four at a time: empty lanes beside the last ones cost less than taking these one by one.
        let lanes = lanes.next_multiple_of(4).min(LANES);
        let [a, b, c, d] = state.each_mut().map(|row| row.split_at_mut(lanes).0);
        self.round(0, [7, 12, 17, 22], |i| i, |b, c, d| d ^ (b & (c ^ d)), [a, b, c, d]);
        self.round(16, [5, 9, 14, 20], |i| 5 * i + 1, |b, c, d| c ^ (d & (b ^ c)), [a, b, c, d]);
        self.round(32, [4, 11, 16, 23], |i| 3 * i + 5, |b, c, d| b ^ c ^ d, [a, b, c, d]);
        self.round(48, [6, 10, 15, 21], |i| 7 * i, |b, c, d| c ^ (b | !d), [a, b, c, d]);
        state[0].map(|word| word.wrapping_add(START[0]))
    }

    /// Sixteen steps, of which each takes the row that `place` says.
    fn round(
        &self,
        first: usize,
        shifts: [u32; 4],
        place: impl Fn(usize) -> usize,
        mix: impl Fn(u32, u32, u32) -> u32 + Copy,
        [a, b, c, d]: [&mut [u32]; 4],
    ) {
        let row = |i| &self.0[place(i) % 16];
        let constant = |i| CONSTANTS[first + i];
        for i in (0..16).step_by(4) {
            step(a, [b, c, d], row(i), constant(i), shifts[0], mix);
            step(d, [a, b, c], row(i + 1), constant(i + 1), shifts[1], mix);
            step(c, [d, a, b], row(i + 2), constant(i + 2), shifts[2], mix);
            step(b, [c, d, a], row(i + 3), constant(i + 3), shifts[3], mix);
        }
    }
}

/// One step in every lane; the compiler takes several lanes in one instruction.
#[inline]
fn step(
    a: &mut [u32],
    [b, c, d]: [&[u32]; 3],
    row: &Row,
    constant: u32,
    shift: u32,
    mix: impl Fn(u32, u32, u32) -> u32,
) {
    for ((((a, b), c), d), word) in a.iter_mut().zip(b).zip(c).zip(d).zip(row) {
        let sum = a.wrapping_add(mix(*b, *c, *d)).wrapping_add(*word).wrapping_add(constant);
        *a = sum.rotate_left(shift).wrapping_add(*b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_have_the_words_that_each_has_alone() {
        let text = "user:42/".repeat(SHORT).into_bytes();
        let texts: Vec<&[u8]> = (0..2 * SHORT).map(|len| &text[..len]).collect();
        for lanes in 1..=LANES {
            for texts in texts.windows(lanes) {
                let mut words = Vec::new();
                first_words(texts, |word| words.push(word));
                let alone: Vec<u32> = texts.iter().map(|text| md5_words(&[text])[0]).collect();
                assert_eq!(words, alone);
            }
        }
    }
}
