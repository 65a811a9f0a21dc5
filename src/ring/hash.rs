//! The hashes of keys: those of Java strings, CRC-32 and MD5.
//!
//! Each takes a prefix to be hashed in front of the key, so that a key can be hashed again under another number
//! without a copy.

/// `String.hashCode` of Java.
pub(super) fn native(prefix: &[u8], key: &[u8]) -> i64 {
    let hash = fold_units(prefix, key, 0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    i64::from(hash)
}

/// The same with the factor 33, in 64 bits.
pub(super) fn old_compat(prefix: &[u8], key: &[u8]) -> i64 {
    fold_units(prefix, key, 0_i64, |hash, unit| hash.wrapping_mul(33).wrapping_add(i64::from(unit)))
}

/// Fifteen bits out of the CRC-32.
pub(super) fn new_compat(prefix: &[u8], key: &[u8]) -> i64 {
    i64::from((crc32(prefix, key) >> 16) & 0x7fff)
}

/// The first 32 bits of the MD5.
pub(super) fn md5(prefix: &[u8], key: &[u8]) -> i64 {
    i64::from(md5_words(prefix, key)[0])
}

/// The MD5 as four little-endian words.
pub(super) fn md5_words(prefix: &[u8], key: &[u8]) -> [u32; 4] {
    let mut context = md5::Context::new();
    context.consume(prefix);
    context.consume(key);
    let digest = u128::from_le_bytes(context.finalize().0);
    [0, 32, 64, 96].map(|shift| low_word(digest >> shift))
}

#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what is wanted")]
fn low_word(wide: u128) -> u32 {
    wide as u32
}

/// Folds over a text as Java sees it, in UTF-16 units; a key that is not UTF-8 counts byte by byte.
fn fold_units<H>(prefix: &[u8], key: &[u8], start: H, step: impl Fn(H, u16) -> H) -> H {
    let bytes =
        |start, text: &[u8]| text.iter().fold(start, |hash, byte| step(hash, (*byte).into()));
    let start = bytes(start, prefix);
    if key.is_ascii() {
        return bytes(start, key);
    }
    match std::str::from_utf8(key) {
        Ok(text) => text.encode_utf16().fold(start, step),
        Err(_) => bytes(start, key),
    }
}

/// CRC-32 as in Ethernet and zlib.
fn crc32(prefix: &[u8], key: &[u8]) -> u32 {
    !prefix.iter().chain(key).fold(!0, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        // A byte cannot miss a table of 256.
        CRC_TABLE[usize::from(low ^ byte)] ^ (crc >> 8)
    })
}

const CRC_TABLE: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_is_the_usual_one() {
        assert_eq!(crc32(b"", b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_prefix_hashes_as_if_it_were_part_of_the_key() {
        for hash in [native, old_compat, new_compat, md5] {
            for key in ["", "key", "héllo", "日本語", "😀"] {
                assert_eq!(hash(b"17", key.as_bytes()), hash(b"", format!("17{key}").as_bytes()));
            }
        }
    }

    #[test]
    fn a_key_that_is_not_utf8_is_hashed_byte_by_byte() {
        assert_eq!(native(b"", &[0xff, 0x61]), 0xff * 31 + 0x61);
        assert_eq!(old_compat(b"", &[0xff, 0x61]), 0xff * 33 + 0x61);
    }
}
