//! Finds out whether a sequence is made of `u8` only, without losing an element.

use std::fmt::{self, Display};

use serde::Serialize;
use serde::ser::{self, Impossible, Serializer};

/// The element as a byte, if it is a `u8`, also behind newtypes and `Some`.
#[inline]
pub(super) fn byte<T: Serialize + ?Sized>(element: &T) -> Option<u8> {
    element.serialize(OnlyU8).ok()
}

/// Appends the leading `u8`s of a sequence to `out`; gives back the first other element.
///
/// Works in blocks, which the compiler turns into little more than a copy. Size hints are not believed.
pub(super) fn take_bytes<I>(elements: &mut I, out: &mut Vec<u8>) -> Option<I::Item>
where
    I: Iterator,
    I::Item: Serialize,
{
    let mut block = [0; 512];
    loop {
        let mut filled = 0;
        let mut other = None;
        for (slot, element) in block.iter_mut().zip(elements.by_ref()) {
            match byte(&element) {
                Some(byte) => *slot = byte,
                None => {
                    other = Some(element);
                    break;
                }
            }
            filled += 1;
        }
        out.extend_from_slice(block.get(..filled).unwrap_or(&block));
        if filled < block.len() {
            return other;
        }
    }
}

struct OnlyU8;

/// The element is no `u8`.
#[derive(Debug)]
struct Other;

impl Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a u8")
    }
}

impl std::error::Error for Other {}

impl ser::Error for Other {
    fn custom<T: Display>(_message: T) -> Self {
        Self
    }
}

macro_rules! refuse {
    ($($method:ident($($argument:ty),*) -> $answer:ty;)+) => {$(
        fn $method(self, $(_: $argument),*) -> Result<$answer, Other> {
            Err(Other)
        }
    )+};
}

type No = Impossible<u8, Other>;

impl Serializer for OnlyU8 {
    type Ok = u8;
    type Error = Other;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = No;
    type SerializeStructVariant = No;

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<u8, Other> {
        Ok(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<u8, Other> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<u8, Other> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<u8, Other> {
        Err(Other)
    }

    fn collect_str<T: Display + ?Sized>(self, _value: &T) -> Result<u8, Other> {
        Err(Other)
    }

    refuse! {
        serialize_bool(bool) -> u8;
        serialize_i8(i8) -> u8;
        serialize_i16(i16) -> u8;
        serialize_i32(i32) -> u8;
        serialize_i64(i64) -> u8;
        serialize_i128(i128) -> u8;
        serialize_u16(u16) -> u8;
        serialize_u32(u32) -> u8;
        serialize_u64(u64) -> u8;
        serialize_u128(u128) -> u8;
        serialize_f32(f32) -> u8;
        serialize_f64(f64) -> u8;
        serialize_char(char) -> u8;
        serialize_str(&str) -> u8;
        serialize_bytes(&[u8]) -> u8;
        serialize_none() -> u8;
        serialize_unit() -> u8;
        serialize_unit_struct(&'static str) -> u8;
        serialize_unit_variant(&'static str, u32, &'static str) -> u8;
        serialize_seq(Option<usize>) -> No;
        serialize_tuple(usize) -> No;
        serialize_tuple_struct(&'static str, usize) -> No;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> No;
        serialize_map(Option<usize>) -> No;
        serialize_struct(&'static str, usize) -> No;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> No;
    }
}
