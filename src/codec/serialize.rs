//! The serializer a value meets first: primitives, strings, bytes and `None` in the codec's form, the rest as JSON.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;
use serde::ser::{Error as _, SerializeSeq, SerializeTuple, Serializer};
use serde_json::Error;

use super::finite::Finite;
use super::layout::{Dressed, Style};
use super::probe;
use super::text::{self, Primitive};

type Json<'b> = serde_json::Serializer<&'b mut Vec<u8>>;
type JsonRef<'a, 'b> = &'a mut Json<'b>;

/// Appends one value to a buffer and says its flags.
pub(super) struct TopLevel<'a, 'b> {
    out: &'b mut Vec<u8>,
    /// Where the JSON serializer stands once one is needed.
    json: &'a mut Option<Json<'b>>,
    flags: &'a mut u32,
    style: Style,
}

impl<'a, 'b> TopLevel<'a, 'b> {
    pub(super) fn new(
        out: &'b mut Vec<u8>,
        json: &'a mut Option<Json<'b>>,
        flags: &'a mut u32,
        style: Style,
    ) -> Self {
        Self { out, json, flags, style }
    }

    fn json(self) -> Result<Finite<JsonRef<'a, 'b>>, Error> {
        *self.flags = self.style.layout.structure()?;
        Ok(Finite(self.json.insert(serde_json::Serializer::new(self.out))))
    }

    fn primitive(self, value: Primitive) -> Result<(), Error> {
        let Style { layout, as_strings } = self.style;
        *self.flags = layout.primitive(value, as_strings, self.out)?;
        Ok(())
    }

    fn sequence(self) -> Sequence<'a, 'b> {
        *self.flags = self.style.layout.bytes();
        let start = self.out.len();
        Sequence { out: self.out, flags: self.flags, style: self.style, start, json: false }
    }
}

macro_rules! primitives {
    ($($method:ident($kind:ty) -> $variant:ident;)+) => {$(
        #[inline]
        fn $method(self, value: $kind) -> Result<(), Error> {
            self.primitive(Primitive::$variant(value))
        }
    )+};
}

macro_rules! as_json {
    ($($method:ident($($name:ident: $argument:ty),*) -> $answer:ty;)+) => {$(
        fn $method(self, $($name: $argument),*) -> Result<$answer, Error> {
            self.json()?.$method($($name),*)
        }
    )+};
}

type Inner<'a, 'b> = Finite<JsonRef<'a, 'b>>;

impl<'a, 'b> Serializer for TopLevel<'a, 'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Sequence<'a, 'b>;
    type SerializeTuple = Sequence<'a, 'b>;
    type SerializeTupleStruct = <Inner<'a, 'b> as Serializer>::SerializeTupleStruct;
    type SerializeTupleVariant = <Inner<'a, 'b> as Serializer>::SerializeTupleVariant;
    type SerializeMap = <Inner<'a, 'b> as Serializer>::SerializeMap;
    type SerializeStruct = <Inner<'a, 'b> as Serializer>::SerializeStruct;
    type SerializeStructVariant = <Inner<'a, 'b> as Serializer>::SerializeStructVariant;

    primitives! {
        serialize_bool(bool) -> Bool;
        serialize_i8(i8) -> I8;
        serialize_i16(i16) -> I16;
        serialize_i32(i32) -> I32;
        serialize_i64(i64) -> I64;
        serialize_i128(i128) -> I128;
        serialize_u8(u8) -> U8;
        serialize_u16(u16) -> U16;
        serialize_u32(u32) -> U32;
        serialize_u64(u64) -> U64;
        serialize_u128(u128) -> U128;
        serialize_f32(f32) -> F32;
        serialize_f64(f64) -> F64;
        serialize_char(char) -> Char;
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.style.layout.quotes_strings() {
            return self.json()?.serialize_str(value);
        }
        *self.flags = self.style.layout.string();
        let start = self.out.len();
        self.out.extend_from_slice(value.as_bytes());
        self.style.layout.dress(Dressed::Text, self.out, start);
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        if self.style.layout.quotes_strings() {
            return self.json()?.collect_str(value);
        }
        *self.flags = self.style.layout.string();
        let start = self.out.len();
        write!(self.out, "{value}").map_err(Error::custom)?;
        self.style.layout.dress(Dressed::Text, self.out, start);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        *self.flags = self.style.layout.bytes();
        let start = self.out.len();
        self.out.extend_from_slice(value);
        self.style.layout.dress(Dressed::Bytes, self.out, start);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        *self.flags = self.style.layout.none(self.out)?;
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.json()?.serialize_newtype_variant(name, index, variant, value)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        Ok(self.sequence())
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, Error> {
        Ok(self.sequence())
    }

    fn collect_seq<I>(self, elements: I) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: Serialize,
    {
        let mut elements = elements.into_iter();
        let mut sequence = self.sequence();
        if let Some(other) = probe::take_bytes(&mut elements, sequence.out) {
            sequence.push(&other)?;
            elements.try_for_each(|element| sequence.push(&element))?;
        }
        sequence.close();
        Ok(())
    }

    as_json! {
        serialize_unit() -> ();
        serialize_unit_struct(name: &'static str) -> ();
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> ();
        serialize_tuple_struct(name: &'static str, len: usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize)
            -> Self::SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> Self::SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> Self::SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize)
            -> Self::SerializeStructVariant;
    }
}

/// A sequence or tuple: bytes as long as all elements are `u8`, else a JSON array.
pub(super) struct Sequence<'a, 'b> {
    out: &'b mut Vec<u8>,
    flags: &'a mut u32,
    style: Style,
    /// Where the sequence begins in `out`.
    start: usize,
    json: bool,
}

impl Sequence<'_, '_> {
    #[inline]
    fn push<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        if !self.json {
            match probe::byte(element) {
                Some(byte) => {
                    self.out.push(byte);
                    return Ok(());
                }
                None => self.turn_to_json()?,
            }
        }
        self.separate();
        element.serialize(Finite(&mut serde_json::Serializer::new(&mut *self.out)))
    }

    /// Writes the bytes so far again, as elements of an array.
    #[cold]
    fn turn_to_json(&mut self) -> Result<(), Error> {
        *self.flags = self.style.layout.structure()?;
        self.json = true;
        let bytes = self.out.split_off(self.start);
        self.out.push(b'[');
        for byte in bytes {
            self.separate();
            text::push_integer(byte, self.out);
        }
        Ok(())
    }

    /// A comma, but for the first element.
    fn separate(&mut self) {
        if self.out.len() > self.start + 1 {
            self.out.push(b',');
        }
    }

    fn close(self) {
        if self.json {
            self.out.push(b']');
        } else {
            self.style.layout.dress(Dressed::Bytes, self.out, self.start);
        }
    }
}

impl SerializeSeq for Sequence<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        self.push(element)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl SerializeTuple for Sequence<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        self.push(element)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}
