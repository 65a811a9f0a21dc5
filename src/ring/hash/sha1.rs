//! The first word of a SHA-1, of which dalli makes its points.

/// The first four bytes of the SHA-1 (RFC 3174), big-endian.
pub(in crate::ring) fn sha1_word(text: &[u8]) -> u32 {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - text.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    padded.truncate(padded.len() - 8);
    padded.extend(8_u64.wrapping_mul(text.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        state = mixed(state, block);
    }
    state[0]
}

/// The state after one block of 64 bytes.
fn mixed(state: [u32; 5], block: &[u8]) -> [u32; 5] {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| (word << 8) | u32::from(*byte));
    }
    for i in 16..80 {
        words[i] = (words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = state;
    for (round, word) in words.into_iter().enumerate() {
        let (mix, constant) = match round / 20 {
            0 => ((b & c) | (!b & d), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mix)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    let mixed = [a, b, c, d, e];
    std::array::from_fn(|i| state[i].wrapping_add(mixed[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_standard() {
        assert_eq!(sha1_word(b""), 0xda39_a3ee);
        assert_eq!(sha1_word(b"abc"), 0xa999_3e36);
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha1_word(two_blocks), 0x8498_3e44);
        assert_eq!(sha1_word(&[b'a'; 1_000_000]), 0x34aa_973c);
    }
}
