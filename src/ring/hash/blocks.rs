//! Hashes that take a text in words of four bytes.

use super::units::signed;

/// MurmurHash2, 32 bits, from `seed`.
pub(super) fn murmur2(text: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = seed ^ length(text);
    let words = text.chunks_exact(4);
    let tail = words.remainder();
    for word in words {
        let k = word_of(word).wrapping_mul(M);
        hash = hash.wrapping_mul(M) ^ (k ^ (k >> 24)).wrapping_mul(M);
    }
    if !tail.is_empty() {
        hash = (hash ^ word_of(tail)).wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

/// MurmurHash3 for x86, 32 bits, from `seed`; byte by byte, so that no text has to be joined first.
pub(super) fn murmur3(text: impl Iterator<Item = u8>, seed: u32) -> u32 {
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (mut hash, mut word, mut len) = (seed, 0_u32, 0_u32);
    for byte in text {
        word |= u32::from(byte) << (len % 4 * 8);
        len = len.wrapping_add(1);
        if len % 4 == 0 {
            hash = (hash ^ mix(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
            word = 0;
        }
    }
    // The word of a length that is a multiple of four is 0 here, and 0 mixes to 0.
    hash ^= mix(word) ^ len;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// Bob Jenkins' lookup3 (`hashlittle`).
pub(super) fn lookup3(text: &[u8], initial: u32) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(length(text)).wrapping_add(initial);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = text;
    while rest.len() > 12 {
        let (block, behind) = rest.split_at(12);
        (a, b, c) = added((a, b, c), block);
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
        rest = behind;
    }
    if rest.is_empty() {
        return c;
    }
    (a, b, c) = added((a, b, c), rest);
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// The three words with up to twelve bytes added to them.
fn added((a, b, c): (u32, u32, u32), bytes: &[u8]) -> (u32, u32, u32) {
    let mut words = bytes.chunks(4).map(word_of);
    let mut plus = |word: u32| word.wrapping_add(words.next().unwrap_or(0));
    (plus(a), plus(b), plus(c))
}

/// Hsieh's SuperFastHash, with its last odd byte signed as on x86.
pub(super) fn hsieh(text: &[u8]) -> u32 {
    let words = text.chunks_exact(4);
    let tail = words.remainder();
    let mut hash = words.fold(0_u32, |hash, word| {
        let word = word_of(word);
        let hash = hash.wrapping_add(word & 0xffff);
        let hash = (hash << 16) ^ ((word >> 16) << 11) ^ hash;
        hash.wrapping_add(hash >> 11)
    });
    let pair = |tail: &[u8]| word_of(tail) & 0xffff;
    match *tail {
        [] => {}
        [byte] => {
            hash = hash.wrapping_add(byte.into());
            hash ^= hash << 10;
            hash = hash.wrapping_add(hash >> 1);
        }
        [_, _] => {
            hash = hash.wrapping_add(pair(tail));
            hash ^= hash << 11;
            hash = hash.wrapping_add(hash >> 17);
        }
        [_, _, last, ..] => {
            hash = hash.wrapping_add(pair(tail));
            hash ^= hash << 16;
            hash ^= signed(last) << 18;
            hash = hash.wrapping_add(hash >> 11);
        }
    }
    hash ^= hash << 3;
    hash = hash.wrapping_add(hash >> 5);
    hash ^= hash << 4;
    hash = hash.wrapping_add(hash >> 17);
    hash ^= hash << 25;
    hash.wrapping_add(hash >> 6)
}

/// Up to four bytes as a little-endian word.
fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte))
}

#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits count")]
fn length(text: &[u8]) -> u32 {
    text.len() as u32
}
