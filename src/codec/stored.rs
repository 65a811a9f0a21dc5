//! What a stored value is, and its reading as the type asked for.

use serde::de::value::SeqDeserializer;
use serde::de::{Deserializer, Error as _, Visitor};
use serde_json::Error;
use serde_json::de::SliceRead;

use super::foreign::php::Php;
use super::{elements, text};

/// A stored value, as its flags tell it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stored<'a> {
    /// Text or bytes: nobody says which; or text that holds a number or JSON.
    Text(&'a [u8]),
    /// Text or bytes, and nothing inside.
    Raw(&'a [u8]),
    /// A byte sequence.
    Bytes(&'a [u8]),
    Json(&'a [u8]),
    /// A number as text, of any size; of clients that keep a `bool` as one, too.
    Number(&'a [u8]),
    /// Checked bytes of PHP's `serialize`.
    Php(&'a [u8]),
    None,
    Bool(bool),
    Char(char),
    Int(i128),
    F32(f32),
    F64(f64),
    /// A date: milliseconds since 1970.
    Millis(i64),
}

impl Stored<'_> {
    /// Whether a `String` is just the stored bytes, of which there are `len`.
    pub(super) fn is_text(&self, len: usize) -> bool {
        matches!(self, Self::Text(bytes) | Self::Raw(bytes) if bytes.len() == len)
    }

    /// What else the value may be when the type asked for did not take it: text may hold JSON, and a JSON
    /// null is `None` to those who do not want it as a value.
    pub(super) fn second_reading(self) -> Option<Self> {
        match self {
            Self::Text(bytes) => Some(Self::Json(bytes)),
            Self::Json(bytes) if bytes.trim_ascii() == b"null" => Some(Self::None),
            _ => None,
        }
    }
}

/// A whole number for those who take what is there.
fn any_integer<'de, V: Visitor<'de>>(value: i128, visitor: V) -> Result<V::Value, Error> {
    match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => visitor.visit_u64(value),
        (_, Ok(value)) => visitor.visit_i64(value),
        _ => visitor.visit_i128(value),
    }
}

fn json<'de, T>(
    bytes: &'de [u8],
    read: impl FnOnce(&mut serde_json::Deserializer<SliceRead<'de>>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = read(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

macro_rules! integers {
    ($($method:ident, $visit:ident, $kind:ident;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let (Self::Text(bytes) | Self::Json(bytes) | Self::Number(bytes)) = self else {
                return self.deserialize_any(visitor);
            };
            let wanted = concat!("a whole number that ", stringify!($kind), " holds");
            visitor.$visit(text::parse(bytes, wanted)?)
        }
    )+};
}

/// Kinds that only JSON tells: text is read as JSON, too.
macro_rules! structured {
    ($($method:ident($($name:ident: $argument:ty),*);)+) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $argument,)* visitor: V) -> Result<V::Value, Error> {
            match self {
                Self::Text(bytes) | Self::Json(bytes) => {
                    json(bytes, |json| json.$method($($name,)* visitor))
                }
                Self::Php(bytes) => Php(bytes).read(|php| php.$method($($name,)* visitor)),
                _ => self.deserialize_any(visitor),
            }
        }
    )+};
}

/// Kinds that bytes can be, too.
macro_rules! sequences {
    ($($method:ident($($name:ident: $argument:ty),*);)+) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $argument,)* visitor: V) -> Result<V::Value, Error> {
            match self {
                Self::Text(bytes) | Self::Raw(bytes) => elements::visit(bytes, true, visitor),
                Self::Json(bytes) => json(bytes, |json| json.$method($($name,)* visitor)),
                Self::Php(bytes) => Php(bytes).read(|php| php.$method($($name,)* visitor)),
                _ => self.deserialize_any(visitor),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for Stored<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) | Self::Raw(bytes) => match text::utf8(bytes) {
                Ok(text) => visitor.visit_str(text),
                Err(_) => elements::visit(bytes, true, visitor),
            },
            Self::Bytes(bytes) => elements::visit(bytes, false, visitor),
            Self::Json(bytes) => json(bytes, |json| json.deserialize_any(visitor)),
            // Never a float near to a whole number.
            Self::Number(bytes) => any_integer(text::parse(bytes, "a whole number")?, visitor),
            Self::Php(bytes) => Php(bytes).read(|php| php.deserialize_any(visitor)),
            Self::None => visitor.visit_none(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Char(value) => visitor.visit_char(value),
            Self::Int(value) => any_integer(value, visitor),
            Self::Millis(value) => any_integer(value.into(), visitor),
            Self::F32(value) => visitor.visit_f32(value),
            Self::F64(value) => visitor.visit_f64(value),
        }
    }

    integers! {
        deserialize_i8, visit_i8, i8;
        deserialize_i16, visit_i16, i16;
        deserialize_i32, visit_i32, i32;
        deserialize_i64, visit_i64, i64;
        deserialize_i128, visit_i128, i128;
        deserialize_u8, visit_u8, u8;
        deserialize_u16, visit_u16, u16;
        deserialize_u32, visit_u32, u32;
        deserialize_u64, visit_u64, u64;
        deserialize_u128, visit_u128, u128;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            // Other clients write so what they have no other sign for.
            Self::Text(b"1") | Self::Number(b"1") => visitor.visit_bool(true),
            Self::Text(b"0") | Self::Number(b"0") => visitor.visit_bool(false),
            Self::Text(bytes) | Self::Json(bytes) => {
                visitor.visit_bool(text::parse(bytes, "`true` or `false`")?)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) | Self::Json(bytes) | Self::Number(bytes) => {
                visitor.visit_f32(text::parse_float(bytes)?)
            }
            Self::F64(value) if value.is_finite() && value.abs() > f64::from(f32::MAX) => {
                Err(Error::custom(format_args!("{value} is beyond f32")))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) | Self::Json(bytes) | Self::Number(bytes) => {
                visitor.visit_f64(text::parse_float(bytes)?)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) | Self::Raw(bytes) | Self::Bytes(bytes) => {
                visitor.visit_str(text::utf8(bytes)?)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) | Self::Raw(bytes) | Self::Bytes(bytes) => visitor.visit_bytes(bytes),
            Self::Json(bytes) => json(bytes, |json| json.deserialize_bytes(visitor)),
            Self::Php(bytes) => Php(bytes).read(|php| php.deserialize_bytes(visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::None => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            // serde_json hands out its raw values by this way.
            Self::Json(bytes) => json(bytes, |json| json.deserialize_newtype_struct(name, visitor)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(bytes) | Self::Json(bytes) => {
                json(bytes, |json| json.deserialize_struct(name, fields, visitor))
            }
            Self::Php(bytes) => {
                Php(bytes).read(|php| php.deserialize_struct(name, fields, visitor))
            }
            // serde's form of it: seconds since 1970 and nanoseconds.
            Self::Millis(millis) if name == "SystemTime" => match u64::try_from(millis) {
                Ok(millis) => {
                    let parts = [millis / 1000, millis % 1000 * 1_000_000];
                    visitor.visit_seq(SeqDeserializer::new(parts.into_iter()))
                }
                Err(_) => {
                    Err(Error::custom("a date before 1970, which SystemTime cannot be read from"))
                }
            },
            _ => self.deserialize_any(visitor),
        }
    }

    structured! {
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_map();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    sequences! {
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}
