//! The raw codec: strings and bytes as they are, nothing else.

use serde::ser::Error as _;
use serde_json::Error;

use super::error::Unreadable;
use super::flags;
use super::layout::Layout;
use super::stored::Stored;
use super::text::Primitive;

/// The layout; it has no settings.
pub(super) struct Raw;

impl Layout for Raw {
    fn name(&self) -> &'static str {
        "Raw"
    }

    fn bytes(&self) -> u32 {
        flags::TEXT
    }

    fn none(&self, _out: &mut Vec<u8>) -> Result<u32, Error> {
        refuse()
    }

    fn structure(&self) -> Result<u32, Error> {
        refuse()
    }

    fn counter(&self, _as_strings: bool) -> u32 {
        flags::TEXT
    }

    fn primitive(
        &self,
        _value: Primitive,
        _as_strings: bool,
        _out: &mut Vec<u8>,
    ) -> Result<u32, Error> {
        refuse()
    }

    fn read<'a>(&self, _flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable> {
        Ok(Stored::Raw(bytes))
    }

    fn meaning(&self, _flags: u32) -> Option<String> {
        Some("bytes, whatever the flags".to_owned())
    }
}

fn refuse() -> Result<u32, Error> {
    Err(Error::custom("the Raw codec stores strings and bytes only; Codec::Json takes any value"))
}
