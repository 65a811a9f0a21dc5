//! What sets one codec apart from another: its flags, and the bytes of its primitives.

use serde_json::Error;

use super::compress::Packing;
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

    /// Whether a string is stored as JSON, too.
    fn quotes_strings(&self) -> bool {
        false
    }

    /// The flags of a byte sequence.
    fn bytes(&self) -> u32;

    /// Puts around a string, or a byte sequence, which stands in `out` from `start` on, what the client puts there.
    fn dress(&self, _kind: Dressed, _out: &mut Vec<u8>, _start: usize) {}

    /// Appends what stands for `None`, often nothing, and returns its flags.
    fn none(&self, _out: &mut Vec<u8>) -> Result<u32, Error> {
        Ok(flags::NONE)
    }

    /// The flags of what is stored as JSON.
    fn structure(&self) -> Result<u32, Error> {
        Ok(flags::JSON)
    }

    /// The flags of a counter in decimal text.
    fn counter(&self, as_strings: bool) -> u32;

    /// Appends a primitive, as a string if so wished, and returns its flags.
    fn primitive(
        &self,
        value: Primitive,
        as_strings: bool,
        out: &mut Vec<u8>,
    ) -> Result<u32, Error>;

    /// What bytes under these flags are. Compressed ones come here inflated, their flags without the mark.
    fn read<'a>(&self, flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable>;

    /// Whether the flags say that a number is in binary form, so that the server cannot count in it.
    fn is_binary(&self, _flags: u32) -> bool {
        false
    }

    /// The flags, without a mark of compression, in words; `None` when the codec does not know them.
    fn meaning(&self, flags: u32) -> Option<String>;

    /// How values are marked as compressed; the first of these is the one that is written.
    fn packings(&self) -> &'static [Packing] {
        &[]
    }
}

/// What is dressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dressed {
    Text,
    Bytes,
}

/// A layout, and whether primitives are strings in it.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) layout: &'static dyn Layout,
    pub(super) as_strings: bool,
}
