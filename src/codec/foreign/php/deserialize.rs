//! A checked value, read as the type asked for: arrays are lists or maps, as the type wants and the keys allow.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Error;

use super::scan::{Scanner, Token};
use crate::codec::error::Unreadable;
use crate::codec::{elements, text};

/// Bytes that passed the check.
#[derive(Debug, Clone, Copy)]
pub(in crate::codec) struct Php<'de>(pub(in crate::codec) &'de [u8]);

impl<'de> Php<'de> {
    /// Reads them.
    pub(in crate::codec) fn read<T>(
        self,
        read: impl FnOnce(Value<'_, 'de>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        read(Value(&mut Scanner::new(self.0)))
    }
}

/// The value that stands next.
pub(in crate::codec) struct Value<'s, 'de>(&'s mut Scanner<'de>);

/// An array, from its first key on.
struct Array<'s, 'de> {
    scanner: &'s mut Scanner<'de>,
    left: usize,
    /// The next key of a list.
    index: i64,
}

/// A key, which PHP turns into an integer when it looks like one.
struct Key<'de>(Token<'de>);

/// What the check would have found before.
fn broken(why: Unreadable) -> Error {
    match why {
        Unreadable::Mismatch(error) => error,
        _ => Error::custom("no plain PHP value"),
    }
}

impl<'de> Value<'_, 'de> {
    fn token(&mut self) -> Result<Token<'de>, Error> {
        self.0.token().map_err(broken)
    }

    /// Hands an array over as a list or a map, and looks that all of it was taken.
    fn array<T>(
        self,
        left: usize,
        visit: impl FnOnce(&mut Array<'_, 'de>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut array = Array { scanner: self.0, left, index: 0 };
        let value = visit(&mut array)?;
        if array.left > 0 {
            return Err(Error::custom(format_args!(
                "an array with {} elements more than the type asked for takes",
                array.left
            )));
        }
        array.scanner.close().map_err(broken)?;
        Ok(value)
    }

    fn scalar<V: Visitor<'de>>(token: Token<'de>, visitor: V) -> Result<V::Value, Error> {
        match token {
            Token::Null => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Int(value) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            },
            Token::Float(value) => visitor.visit_f64(value),
            Token::Bytes(bytes) => match text::utf8(bytes) {
                Ok(text) => visitor.visit_borrowed_str(text),
                Err(_) => visitor.visit_borrowed_bytes(bytes),
            },
            Token::Array(_) => Err(Error::custom("an array, where a plain value is asked for")),
        }
    }

    fn sequence<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Array(count) => self.array(count, |array| visitor.visit_seq(array)),
            Token::Bytes(bytes) => elements::visit(bytes, true, visitor),
            other => Self::scalar(other, visitor),
        }
    }

    fn mapping<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Array(count) => self.array(count, |array| visitor.visit_map(array)),
            other => Self::scalar(other, visitor),
        }
    }
}

impl<'de> Deserializer<'de> for Value<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Array(count) if self.0.is_list() => {
                self.array(count, |array| visitor.visit_seq(array))
            }
            Token::Array(count) => self.array(count, |array| visitor.visit_map(array)),
            other => Self::scalar(other, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.take_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            other => Self::scalar(other, visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.mapping(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.mapping(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Array(count) => {
                self.array(count, |array| visitor.visit_enum(MapAccessDeserializer::new(array)))
            }
            Token::Bytes(bytes) => visitor.visit_enum(StrDeserializer::new(text::utf8(bytes)?)),
            other => Self::scalar(other, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.skip().map_err(broken)?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct
        identifier
    }
}

impl<'de> SeqAccess<'de> for &mut Array<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        if self.scanner.token().map_err(broken)? != Token::Int(self.index) {
            return Err(Error::custom("an array with keys, where a list is asked for"));
        }
        self.left = left;
        self.index += 1;
        seed.deserialize(Value(&mut *self.scanner)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for &mut Array<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let key = self.scanner.token().map_err(broken)?;
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Value(&mut *self.scanner))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

macro_rules! integer_keys {
    ($($method:ident, $visit:ident;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0 {
                Token::Bytes(bytes) => visitor.$visit(text::parse(bytes, "a whole number")?),
                other => Value::scalar(other, visitor),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Token::Int(number) => visitor.visit_string(number.to_string()),
            other => Value::scalar(other, visitor),
        }
    }

    integer_keys! {
        deserialize_i8, visit_i8;
        deserialize_i16, visit_i16;
        deserialize_i32, visit_i32;
        deserialize_i64, visit_i64;
        deserialize_u8, visit_u8;
        deserialize_u16, visit_u16;
        deserialize_u32, visit_u32;
        deserialize_u64, visit_u64;
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Token::Bytes(bytes) => visitor.visit_enum(StrDeserializer::new(text::utf8(bytes)?)),
            other => Value::scalar(other, visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
