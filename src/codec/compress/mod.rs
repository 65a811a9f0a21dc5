//! Compressed values: how each client marks them, and the way into them and out again.

#[cfg(not(feature = "compression"))]
mod disabled;
#[cfg(feature = "compression")]
mod enabled;
#[cfg(feature = "compression")]
mod fastlz;

use std::fmt;

use super::error::Unreadable;
use super::layout::Layout;

#[cfg(not(feature = "compression"))]
use disabled as engine;
#[cfg(feature = "compression")]
use enabled as engine;

/// Values up to this many bytes stay plain whatever the setting: a number that is stored as text remains
/// one in which the server can count.
pub(super) const LEAST: usize = 64;

/// One of a client's marks, and what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// The bits of the flags that say so.
    pub(super) bits: u32,
    pub(super) form: Form,
    /// What one hundred bytes must shrink below for the client to keep them compressed.
    pub(super) keep_below: usize,
}

/// What the bytes of a compressed value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One gzip member.
    Gzip,
    /// A zlib stream.
    Zlib,
    /// The plain length, 4 bytes little-endian, and a zlib stream.
    SizedZlib,
    /// The plain length and a FastLZ block.
    FastLz,
    /// The plain length and a Zstandard frame.
    Zstd,
}

impl Packing {
    /// Bit 1, gzip: Whalin, spymemcached, xmemcached and Cache::Memcached all read this.
    pub(super) const GZIP: Self = Self { bits: 2, form: Form::Gzip, keep_below: 100 };

    /// Bit 3, zlib: the Python clients.
    pub(super) const PYTHON: Self = Self { bits: 8, form: Form::Zlib, keep_below: 100 };
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zlib | Self::SizedZlib => "zlib",
            Self::FastLz => "FastLZ",
            Self::Zstd => "Zstandard",
        })
    }
}

/// The form of a value under these flags if they mark it as compressed, and its flags without the mark,
/// which the layout knows.
pub(super) fn packed(layout: &dyn Layout, flags: u32) -> Option<(Form, u32)> {
    if flags == 0 {
        return None;
    }
    let packings = layout.packings();
    let mask = packings.iter().fold(0, |all, packing| all | packing.bits);
    let bits = flags & mask;
    let packing = packings.iter().find(|packing| bits != 0 && packing.bits == bits)?;
    let rest = flags & !mask;
    layout.meaning(rest).map(|_| (packing.form, rest))
}

/// The flags in words, the mark included; `None` when the codec does not know them.
pub(super) fn meaning(layout: &dyn Layout, flags: u32) -> Option<String> {
    match packed(layout, flags) {
        Some((form, rest)) => Some(format!("{}, compressed with {form}", layout.meaning(rest)?)),
        None => layout.meaning(flags),
    }
}

/// The plain bytes of a compressed value, of which there may be `most`.
pub(super) fn unpack(form: Form, bytes: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    engine::unpack(form, bytes, most)
}

/// Compresses what stands in `out` from `start` on, if that is more than `above` bytes and the layout's
/// client would keep the result; returns the flags with the mark then, else as they were.
pub(super) fn pack(
    layout: &dyn Layout,
    above: usize,
    flags: u32,
    out: &mut Vec<u8>,
    start: usize,
) -> u32 {
    let plain = out.get(start..).unwrap_or_default();
    let Some(packing) = layout.packings().first() else { return flags };
    if plain.len() <= above.max(LEAST) {
        return flags;
    }
    let Some(packed) = engine::pack(packing.form, plain) else { return flags };
    if packed.len().saturating_mul(100) >= plain.len().saturating_mul(packing.keep_below) {
        return flags;
    }
    out.truncate(start);
    out.extend_from_slice(&packed);
    flags | packing.bits
}
