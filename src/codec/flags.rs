//! The flag numbers of our own.
//!
//! Their low five bits are zero: there other clients mark compression and their own serialization, so
//! they read our values as plain bytes. They fit in 16 bits, all that some servers keep. Bit 15 is
//! free in Whalin's numbers, and Java clients read [`NONE`] as `null` and [`BYTES`] as `byte[]`.

/// Text, or bytes of unknown make.
pub(super) const TEXT: u32 = 0;
/// JSON.
pub(super) const JSON: u32 = 0x8000;
/// A stored `None`; no bytes.
pub(super) const NONE: u32 = 0x8040;
/// A byte sequence.
pub(super) const BYTES: u32 = 0x9000;

/// What one of our numbers says.
pub(super) fn meaning(flags: u32) -> Option<&'static str> {
    match flags {
        TEXT => Some("text or bytes"),
        JSON => Some("JSON"),
        NONE => Some("a stored None"),
        BYTES => Some("bytes"),
        _ => None,
    }
}
