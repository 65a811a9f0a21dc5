//! Hashes that take a text unit by unit, a unit being what the dialect calls a character.

use super::Dialect;

/// Where an FNV hash starts, and what it multiplies with; of the 64-bit one the low halves, since only the low
/// half of its result is used, and that depends on nothing else.
pub(super) type Fnv = (u32, u32);
pub(super) const FNV_32: Fnv = (0x811c_9dc5, 0x0100_0193);
pub(super) const FNV_64: Fnv = (0x8422_2325, 0x1b3);

pub(super) fn fnv1(dialect: Dialect, parts: &[&[u8]], (start, prime): Fnv) -> u32 {
    fold(dialect, parts, start, |hash, unit| hash.wrapping_mul(prime) ^ unit)
}

pub(super) fn fnv1a(dialect: Dialect, parts: &[&[u8]], (start, prime): Fnv) -> u32 {
    fold(dialect, parts, start, |hash, unit| (hash ^ unit).wrapping_mul(prime))
}

/// `String.hashCode`, its sign extended to 64 bits.
pub(super) fn java(parts: &[&[u8]]) -> u64 {
    let hash =
        fold(Dialect::Java, parts, 0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit));
    u64::from(hash) | if hash >> 31 == 1 { !0xffff_ffff } else { 0 }
}

pub(super) fn times33(parts: &[&[u8]]) -> u64 {
    fold(Dialect::Java, parts, 0_u64, |hash, unit| hash.wrapping_mul(33).wrapping_add(unit.into()))
}

/// In Java, too, it is over bytes.
pub(super) fn one_at_a_time(dialect: Dialect, parts: &[&[u8]]) -> u32 {
    let mut hash = 0_u32;
    for byte in parts.iter().copied().flatten() {
        hash = hash.wrapping_add(byte_unit(dialect, *byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

pub(super) fn mysql(dialect: Dialect, parts: &[&[u8]]) -> u32 {
    let (hash, _) = fold(dialect, parts, (0_u64, 4_u64), |(hash, n), unit| {
        let step = ((hash & 63) + n).wrapping_mul(unit.into()).wrapping_add(hash << 8);
        (hash ^ step, n + 3)
    });
    low(hash)
}

pub(super) fn elf(dialect: Dialect, parts: &[&[u8]]) -> u32 {
    let hash = fold(dialect, parts, 0_u64, |hash, unit| {
        let hash = (hash << 4).wrapping_add(unit.into());
        let top = hash & 0xf000_0000;
        (hash ^ (top >> 24)) & !top
    });
    low(hash) & 0x7fff_ffff
}

pub(super) fn rs(dialect: Dialect, parts: &[&[u8]]) -> u32 {
    let (hash, _) = fold(dialect, parts, (0_u64, 63_689_u64), |(hash, a), unit| {
        (hash.wrapping_mul(a).wrapping_add(unit.into()), a.wrapping_mul(378_551))
    });
    low(hash) & 0x7fff_ffff
}

/// It begins at the end, and leaves out more the longer the text.
pub(super) fn lua(dialect: Dialect, parts: &[&[u8]]) -> u32 {
    let units = fold(dialect, parts, Vec::new(), |mut units, unit| {
        units.push(u64::from(unit));
        units
    });
    let step = (units.len() >> 5) + 1;
    let taken = units.iter().rev().step_by(step).take(units.len() / step);
    let hash = taken.fold(units.len() as u64, |hash, unit| {
        // A shift that keeps the sign, as the original's numbers have one.
        let quarter = (hash >> 2) | if hash >> 63 == 1 { 3 << 62 } else { 0 };
        hash ^ (hash << 5).wrapping_add(quarter).wrapping_add(*unit)
    });
    low(hash)
}

#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what is wanted")]
fn low(hash: u64) -> u32 {
    hash as u32
}

/// A byte with its sign extended to 32 bits, which is what C makes of a signed `char`.
pub(super) fn signed(byte: u8) -> u32 {
    u32::from(byte) | if byte >= 0x80 { !0xff } else { 0 }
}

fn byte_unit(dialect: Dialect, byte: u8) -> u32 {
    match dialect {
        Dialect::C => signed(byte),
        Dialect::Java | Dialect::Plain | Dialect::Python => byte.into(),
    }
}

/// The bytes of a text, or the lowest byte of each of its characters; Python text that is not UTF-8 counts byte by byte.
pub(super) fn octets<'a>(dialect: Dialect, parts: &'a [&[u8]]) -> impl Iterator<Item = u8> + 'a {
    parts.iter().flat_map(move |part| {
        let text = match (dialect, std::str::from_utf8(part)) {
            (Dialect::Python, Ok(text)) => Some(text),
            _ => None,
        };
        let bytes = if text.is_some() { &[] } else { *part };
        let lowest = |letter| u32::from(letter).to_le_bytes()[0];
        text.unwrap_or_default().chars().map(lowest).chain(bytes.iter().copied())
    })
}

/// Folds over the units of a text; Java text that is not UTF-8 counts byte by byte.
fn fold<H>(dialect: Dialect, parts: &[&[u8]], start: H, step: impl Fn(H, u32) -> H) -> H {
    parts.iter().fold(start, |start, part| match (dialect, std::str::from_utf8(part)) {
        (Dialect::Java, Ok(text)) if !text.is_ascii() => {
            text.encode_utf16().fold(start, |hash, unit| step(hash, unit.into()))
        }
        _ => part.iter().fold(start, |hash, byte| step(hash, byte_unit(dialect, *byte))),
    })
}
