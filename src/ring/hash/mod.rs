//! The hashes of keys, by name, and what each makes of a key's bytes.

mod blocks;
mod crc;
mod md5;
mod sha1;
mod units;

use std::hash::Hasher as _;

use super::named::{Named, named};
pub(super) use md5::md5_words;
use md5::{LANES, first_words};
pub(super) use sha1::sha1_word;

/// What turns a key into a number, before a [`Placement`](crate::Placement) turns the number into a server.
///
/// The text forms are the names in brackets. Where two originals compute a hash of the same name differently
/// (Java clients hash UTF-16 units, C clients signed bytes), the placement says which is meant; for ASCII keys they agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyHash {
    /// Java's `String.hashCode` (`native`).
    Native,
    /// The same with the factor 33, in 64 bits: Whalin's `OLD_COMPAT_HASH` (`old_compat`).
    OldCompat,
    /// Bits 16 to 30 of the CRC-32 (`crc`): `CRC` of libmemcached, `CRC_HASH` of spymemcached, `CRC32_HASH` of
    /// xmemcached, `crc32` of twemproxy.
    Crc,
    /// All bits of the CRC-32, as in Ethernet and zlib (`crc32`); `crc32a` of twemproxy.
    Crc32,
    /// CRC-16 with the polynomial 0x1021, in 32 bits as twemproxy leaves it (`crc16`).
    Crc16,
    /// The first four bytes of the MD5, little-endian (`md5`); `KETAMA_HASH` of the Java clients.
    Md5,
    /// The first four bytes of the MD5, big-endian (`md5_be`); uhashring takes all sixteen.
    Md5Be,
    /// Jenkins' one-at-a-time (`one_at_a_time`), the default of libmemcached.
    OneAtATime,
    /// Jenkins' lookup3 with the initial value 13 (`jenkins`).
    Jenkins,
    /// FNV-1 in 64 bits, of which the low 32 count (`fnv1_64`).
    Fnv1_64,
    /// FNV-1a in 64 bits, of which the low 32 count (`fnv1a_64`), the default of twemproxy.
    Fnv1a64,
    /// FNV-1 in 32 bits (`fnv1_32`).
    Fnv1_32,
    /// FNV-1a in 32 bits (`fnv1a_32`).
    Fnv1a32,
    /// MurmurHash2 (`murmur`).
    Murmur,
    /// MurmurHash3 for x86, 32 bits (`murmur3`).
    Murmur3,
    /// Hsieh's SuperFastHash (`hsieh`).
    Hsieh,
    /// `MYSQL_HASH` of xmemcached (`mysql`).
    Mysql,
    /// `ELF_HASH` of xmemcached (`elf`).
    Elf,
    /// `RS_HASH` of xmemcached (`rs`).
    Rs,
    /// `LUA_HASH` of xmemcached (`lua`).
    Lua,
    /// SipHash as Rust's `DefaultHasher` computes it for a `str` (`siphash`), the default of the crate `memcache`.
    ///
    /// Rust does not promise to keep it for ever; whoever uses that crate has the same one, built with the same Rust.
    SipHash,
}

impl Named for KeyHash {
    const WHAT: &'static str = "hash";
    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::Native, "native"),
        (Self::OldCompat, "old_compat"),
        (Self::Crc, "crc"),
        (Self::Crc32, "crc32"),
        (Self::Crc16, "crc16"),
        (Self::Md5, "md5"),
        (Self::Md5Be, "md5_be"),
        (Self::OneAtATime, "one_at_a_time"),
        (Self::Jenkins, "jenkins"),
        (Self::Fnv1_64, "fnv1_64"),
        (Self::Fnv1a64, "fnv1a_64"),
        (Self::Fnv1_32, "fnv1_32"),
        (Self::Fnv1a32, "fnv1a_32"),
        (Self::Murmur, "murmur"),
        (Self::Murmur3, "murmur3"),
        (Self::Hsieh, "hsieh"),
        (Self::Mysql, "mysql"),
        (Self::Elf, "elf"),
        (Self::Rs, "rs"),
        (Self::Lua, "lua"),
        (Self::SipHash, "siphash"),
    ];
}

named!(KeyHash);

/// What the units of a text are to a hash, and where it starts: the habits of the language it was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    /// UTF-16 units; bytes without a sign where a hash is over bytes.
    Java,
    /// libmemcached's code, with `char` signed as on x86, and murmur seeds made from the length.
    C,
    /// Bytes without a sign; murmur starts at 0.
    Plain,
    /// The same, but murmur3 takes characters, of which the lowest byte counts.
    Python,
}

/// One hash in one dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hasher {
    pub(super) hash: KeyHash,
    pub(super) dialect: Dialect,
}

impl Hasher {
    /// The hash of the text that `parts` make, one behind the other: 32 bits, but 64 with a sign for
    /// `Native` and `OldCompat`, and 64 for `SipHash`.
    pub(super) fn of(self, parts: &[&[u8]]) -> u64 {
        let dialect = self.dialect;
        match self.hash {
            KeyHash::Native => units::java(parts),
            KeyHash::OldCompat => units::times33(parts),
            KeyHash::Crc => middle(crc::crc32(parts).into()),
            KeyHash::Crc32 => crc::crc32(parts).into(),
            KeyHash::Crc16 => crc::crc16(parts).into(),
            KeyHash::Md5 => md5_words(parts)[0].into(),
            KeyHash::Md5Be => md5_words(parts)[0].swap_bytes().into(),
            KeyHash::OneAtATime => units::one_at_a_time(dialect, parts).into(),
            KeyHash::Jenkins => blocks::lookup3(&joined(parts), 13).into(),
            KeyHash::Fnv1_64 => units::fnv1(dialect, parts, units::FNV_64).into(),
            KeyHash::Fnv1a64 => units::fnv1a(dialect, parts, units::FNV_64).into(),
            KeyHash::Fnv1_32 => units::fnv1(dialect, parts, units::FNV_32).into(),
            KeyHash::Fnv1a32 => units::fnv1a(dialect, parts, units::FNV_32).into(),
            KeyHash::Murmur => blocks::murmur2(&joined(parts), seed(dialect, parts)).into(),
            KeyHash::Murmur3 => {
                blocks::murmur3(units::octets(dialect, parts), seed(dialect, parts)).into()
            }
            KeyHash::Hsieh => blocks::hsieh(&joined(parts)).into(),
            KeyHash::Mysql => units::mysql(dialect, parts).into(),
            KeyHash::Elf => units::elf(dialect, parts).into(),
            KeyHash::Rs => units::rs(dialect, parts).into(),
            KeyHash::Lua => units::lua(dialect, parts).into(),
            KeyHash::SipHash => siphash(parts),
        }
    }

    /// Gives the hash of each text, in their order.
    pub(super) fn of_each<'t>(
        self,
        mut texts: impl Iterator<Item = &'t [u8]>,
        mut give: impl FnMut(u64),
    ) {
        let order: fn(u32) -> u32 = match self.hash {
            KeyHash::Md5 => |word| word,
            KeyHash::Md5Be => u32::swap_bytes,
            _ => return texts.for_each(|text| give(self.of(&[text]))),
        };
        let mut lanes = [&[][..]; LANES];
        loop {
            let taken = lanes.iter_mut().zip(&mut texts).map(|(lane, text)| *lane = text).count();
            first_words(lanes.get(..taken).unwrap_or_default(), |word| give(order(word).into()));
            if taken < LANES {
                return;
            }
        }
    }
}

/// Bits 16 to 30, which is what several clients keep of a hash.
pub(super) fn middle(hash: u64) -> u64 {
    (hash >> 16) & 0x7fff
}

/// As `str`'s `Hash` feeds it: the bytes and an end mark.
fn siphash(parts: &[&[u8]]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(&joined(parts));
    hasher.write_u8(0xff);
    hasher.finish()
}

/// libmemcached seeds both murmurs with the length times 0xdeadbeef.
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits of the product count")]
fn seed(dialect: Dialect, parts: &[&[u8]]) -> u32 {
    let len = parts.iter().map(|part| part.len()).sum::<usize>() as u32;
    if dialect == Dialect::C { len.wrapping_mul(0xdead_beef) } else { 0 }
}

/// The text in one piece, without a copy where it is one already.
fn joined<'a>(parts: &[&'a [u8]]) -> std::borrow::Cow<'a, [u8]> {
    match *parts {
        [] => (&[]).into(),
        [whole] => whole.into(),
        _ => parts.concat().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_hashes_the_same_whole_and_in_parts() {
        for (hash, name) in KeyHash::NAMES {
            for dialect in [Dialect::Java, Dialect::C, Dialect::Plain, Dialect::Python] {
                let hasher = Hasher { hash: *hash, dialect };
                for key in ["", "key", "héllo", "日本語", "😀", "0123456789abcdef"] {
                    let whole = format!("17-{key}");
                    assert_eq!(
                        hasher.of(&[b"17", b"-", key.as_bytes()]),
                        hasher.of(&[whole.as_bytes()]),
                        "{name} {key}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_key_that_is_not_utf8_is_hashed_byte_by_byte_as_java_text() {
        let hash = |hash| Hasher { hash, dialect: Dialect::Java }.of(&[&[0xff, 0x61]]);
        assert_eq!(hash(KeyHash::Native), 0xff * 31 + 0x61);
        assert_eq!(hash(KeyHash::OldCompat), 0xff * 33 + 0x61);
    }

    /// Computed by CPython 3.11 with PYTHONHASHSEED=0, which hashes bytes with SipHash-1-3 under a zero key.
    #[test]
    fn siphash_is_that_of_the_memcache_crate() {
        for (key, expected) in SIPHASH {
            let hasher = Hasher { hash: KeyHash::SipHash, dialect: Dialect::Plain };
            assert_eq!(hasher.of(&[key.as_bytes()]), expected, "{key}");
        }
    }

    const SIPHASH: [(&str, u64); 6] = [
        ("", 3_476_900_567_878_811_119),
        ("a", 8_186_225_505_942_432_243),
        ("key1", 432_334_484_231_585_307),
        ("user:42", 14_672_669_419_623_036_594),
        ("héllo", 16_660_529_101_961_148_543),
        ("0123456789012345678901234567890123456789", 10_325_235_958_831_193_371),
    ];

    /// Computed by pymemcache 4.0.0.
    #[test]
    fn murmur3_is_that_of_pymemcache() {
        let hasher = Hasher { hash: KeyHash::Murmur3, dialect: Dialect::Python };
        for (key, expected) in MURMUR3 {
            assert_eq!(hasher.of(&[b"10.0.0.1:11211-", key.as_bytes()]), expected, "{key}");
        }
        let not_utf8 = [b"10.0.0.1:11211-".as_slice(), &[0xff]];
        assert_eq!(hasher.of(&not_utf8), hasher.of(&[b"10.0.0.1:11211-", "ÿ".as_bytes()]));
    }

    const MURMUR3: [(&str, u64); 4] = [
        ("key", 4_225_664_836),
        ("héllo", 3_857_752_351),
        ("日本語", 4_197_371_599),
        ("😀😀😀", 2_365_126_425),
    ];

    /// The usual check values of these two.
    #[test]
    fn crcs_are_the_usual_ones() {
        let hash = |hash| Hasher { hash, dialect: Dialect::Plain }.of(&[b"123456789"]);
        assert_eq!(hash(KeyHash::Crc32), 0xcbf4_3926);
        assert_eq!(hash(KeyHash::Crc16) & 0xffff, 0x31c3);
    }
}
