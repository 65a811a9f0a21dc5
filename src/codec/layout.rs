//! What sets one codec apart from another: its flags, and the bytes of its primitives.

use serde_json::Error;

use super::error::Unreadable;
use super::flags;
use super::stored::Stored;
use super::text::Primitive;

/// One codec's answers.
pub(super) trait Layout: Sync {
    /// The codec's name, for errors.
    fn name(&self) -> &'static str;

    /// The flags of a string.
    fn string(&self) -> u32 {
        flags::TEXT
    }

    /// The flags of a byte sequence.
    fn bytes(&self) -> u32;

    /// The flags of `None`, which has no bytes.
    fn none(&self) -> Result<u32, Error> {
        Ok(flags::NONE)
    }

    /// The flags of what is stored as JSON.
    fn structure(&self) -> Result<u32, Error> {
        Ok(flags::JSON)
    }

    /// The flags of a counter in decimal text.
    fn counter(&self) -> u32;

    /// Appends a primitive and returns its flags.
    fn primitive(&self, value: Primitive, out: &mut Vec<u8>) -> Result<u32, Error>;

    /// What bytes under these flags are.
    fn read<'a>(&self, flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable>;

    /// Whether the flags say that a number is in binary form, so that the server cannot count in it.
    fn is_binary(&self, _flags: u32) -> bool {
        false
    }

    /// The flags in words; `None` when the codec does not know them.
    fn meaning(&self, flags: u32) -> Option<String>;
}
