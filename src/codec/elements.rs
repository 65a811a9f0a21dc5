//! Stored bytes, read as a sequence of `u8`.

use std::slice::Iter;

use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Error;

/// Reads all the bytes as a sequence.
///
/// When the bytes may be something else than a byte sequence, `only_u8` gives them to elements that ask
/// for `u8` and to no others: a `Vec<i32>` must not be made of the characters of a text.
pub(super) fn visit<'de, V: Visitor<'de>>(
    bytes: &[u8],
    only_u8: bool,
    visitor: V,
) -> Result<V::Value, Error> {
    let mut elements = Elements { bytes: bytes.iter(), only_u8 };
    let value = visitor.visit_seq(&mut elements)?;
    match elements.bytes.len() {
        0 => Ok(value),
        left => Err(Error::custom(format_args!(
            "{} bytes are {left} more than the type asked for takes",
            bytes.len()
        ))),
    }
}

struct Elements<'a> {
    bytes: Iter<'a, u8>,
    only_u8: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let element = |&byte| seed.deserialize(Element { byte, only_u8: self.only_u8 });
        self.bytes.next().map(element).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.bytes.len())
    }
}

/// One byte, behind any newtypes and `Some`s.
struct Element {
    byte: u8,
    only_u8: bool,
}

impl<'de> Deserializer<'de> for Element {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.only_u8 {
            return Err(Error::custom("the value is not made of the elements asked for"));
        }
        visitor.visit_u8(self.byte)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u8(self.byte)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
