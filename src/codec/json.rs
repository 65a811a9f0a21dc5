//! The JSON codec: strings as text, bytes as bytes, everything else as JSON.

use serde::ser::Error as _;
use serde_json::Error;

use super::compress::Packing;
use super::error::Unreadable;
use super::flags;
use super::layout::Layout;
use super::stored::Stored;
use super::text::Primitive;

/// The layout.
pub(super) struct Json;

impl Layout for Json {
    fn name(&self) -> &'static str {
        "Json"
    }

    fn bytes(&self) -> u32 {
        flags::BYTES
    }

    fn counter(&self, as_strings: bool) -> u32 {
        if as_strings { flags::TEXT } else { flags::JSON }
    }

    fn primitive(
        &self,
        value: Primitive,
        as_strings: bool,
        out: &mut Vec<u8>,
    ) -> Result<u32, Error> {
        if value.is_not_finite() && !as_strings {
            return Err(Error::custom(
                "JSON has no NaN and no infinity; primitives_as_strings stores them as text",
            ));
        }
        value.push_json(out)?;
        Ok(match value {
            Primitive::Char(_) => flags::TEXT,
            _ => self.counter(as_strings),
        })
    }

    fn read<'a>(&self, flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable> {
        match flags {
            flags::TEXT => Ok(Stored::Text(bytes)),
            flags::JSON => Ok(Stored::Json(bytes)),
            flags::BYTES => Ok(Stored::Bytes(bytes)),
            flags::NONE => Ok(Stored::None),
            _ => Err(Unreadable::UnknownFlags),
        }
    }

    fn meaning(&self, flags: u32) -> Option<String> {
        flags::meaning(flags).map(str::to_owned)
    }

    fn packings(&self) -> &'static [Packing] {
        &[Packing::GZIP]
    }
}
