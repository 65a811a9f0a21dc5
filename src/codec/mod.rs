//! Values to bytes and flags, and back: which codec a client uses, and the way through it.

mod custom;
mod elements;
mod error;
mod finite;
mod flags;
mod json;
mod layout;
mod probe;
mod raw;
mod serialize;
mod stored;
#[cfg(test)]
mod tests;
mod text;
mod whalin;

use std::any::type_name;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::StringDeserializer;

pub use custom::CustomCodec;
pub use error::{DecodeError, DecodeErrorKind, EncodeError};

use crate::types::Payload;
use error::Unreadable;
use json::Json;
use layout::Layout;
use raw::Raw;
use serialize::TopLevel;
use whalin::Whalin;

/// How values become bytes and flags, and back.
///
/// All of them tell apart a miss and a stored `None`, and keep an empty string or byte sequence as a
/// value. What a codec cannot hold is an [`EncodeError`] before anything is sent; what it cannot read
/// is a [`DecodeError`] that carries the bytes.
///
/// Byte sequences need no wrapper type: a sequence or tuple whose elements are all `u8` (`Vec<u8>`,
/// `&[u8]`, `[u8; 4]`, `serde_bytes`) is stored as its bytes. An empty sequence of any type is stored
/// as empty bytes and read back as empty. A `Vec<u8>` inside a structure is a JSON array.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Codec {
    /// Strings as text, bytes as bytes, everything else as JSON. The default.
    ///
    /// Numbers are therefore decimal text, and `incr` works on what `set` stored.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `str`, `String`, `char` | 0 | UTF-8 |
    /// | numbers, `bool`, structures, enums, `()` | 32768 | JSON |
    /// | `None` | 32832 | none |
    /// | bytes | 36864 | as they are |
    ///
    /// Flags 0 are also what other clients give to text and bytes: they are read as text, as bytes, as
    /// a number or as JSON, whichever the type asked for wants. Other flags are an error that carries
    /// the bytes. The low five bits of our flags are zero, since other clients mark compression and
    /// their own serialization there, and the high half too, since some servers keep 16 bits only.
    ///
    /// What JSON cannot hold is refused: NaN and infinities, and maps whose keys are no strings,
    /// numbers, `bool`s or `char`s. With `primitives_as_strings` a NaN or infinity that is the whole value
    /// is stored as `NaN`, `Infinity` or `-Infinity` and read back.
    #[default]
    Json,
    /// The values of Whalin's Java client (2.0.1 to 3.0.2), byte for byte.
    ///
    /// | stored | flags | bytes |
    /// |---|---|---|
    /// | `i8` | 1 | 1 |
    /// | `i32`, `u16` | 4 | 4, big-endian |
    /// | `char` up to U+FFFF | 16 | 4, big-endian |
    /// | `str`, `String`, other `char`s | 32 | UTF-8 |
    /// | `f32` | 128 | IEEE bits, big-endian |
    /// | `i16`, `u8` | 256 | 4, big-endian, sign-extended |
    /// | `f64` | 512 | IEEE bits, big-endian |
    /// | bytes | 4096 | as they are |
    /// | `bool` | 8192 | 1 or 0 |
    /// | `i64`, `u32`, `u64` | 16384 | 8, big-endian |
    /// | structures, enums, `()`, `i128`, `u128` | 32768 | JSON; Java clients read nothing here |
    /// | `None` | 32832 | none; Java clients read `null` |
    ///
    /// Java has no unsigned numbers: each takes the smallest type that holds every value of it, and a
    /// `u64` above `i64::MAX` is refused. With `primitives_as_strings` numbers, `bool`s and `char`s are
    /// text under flags 32, written as Java writes it.
    ///
    /// Also read: `StringBuffer` (64) and `StringBuilder` (2048) as strings, `Date` (1024) as
    /// milliseconds since 1970 or as a `SystemTime`, and flags 0 as text or bytes. Serialized Java
    /// objects and compressed values are errors that carry the bytes.
    Whalin,
    /// Strings and bytes as they are, under flags 0; any other type is an error.
    ///
    /// On reading the flags are not looked at.
    Raw,
    /// What [`Codec::Json`] makes, changed by code of yours.
    Custom(Arc<dyn CustomCodec>),
}

/// A codec with its settings: the way of a value into bytes and back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcoder {
    codec: Codec,
    primitives_as_strings: bool,
}

impl Transcoder {
    /// A codec that stores numbers, booleans and chars in its own form, or as strings.
    pub(crate) fn new(codec: Codec, primitives_as_strings: bool) -> Self {
        Self { codec, primitives_as_strings }
    }

    /// Appends the value's bytes to `out` and returns its flags. On error `out` is as it was.
    pub(crate) fn encode<T: Serialize + ?Sized>(
        &self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<u32, EncodeError> {
        let start = out.len();
        let layout = self.layout();
        let mut flags = 0;
        let serialized = value
            .serialize(TopLevel::new(out, &mut None, &mut flags, layout))
            .map_err(|error| EncodeError::new(type_name::<T>(), layout.name(), error.to_string()));
        if let Err(error) = serialized {
            out.truncate(start);
            return Err(error);
        }
        let Codec::Custom(custom) = &self.codec else { return Ok(flags) };
        let plain = Payload { bytes: out.split_off(start), flags };
        let changed = custom.encode(plain).map_err(|e| EncodeError::custom(type_name::<T>(), e))?;
        out.extend_from_slice(&changed.bytes);
        Ok(changed.flags)
    }

    /// Reads a stored value as `T`. The error carries the bytes.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        flags: u32,
        bytes: Vec<u8>,
    ) -> Result<T, DecodeError> {
        let layout = self.layout();
        let asked = type_name::<T>();
        let Codec::Custom(custom) = &self.codec else {
            return read(layout, flags, bytes).map_err(|(bytes, why)| {
                DecodeError::new(asked, layout, flags, Payload { bytes, flags }, why)
            });
        };
        let stored = Payload { bytes, flags };
        match custom.decode(&stored) {
            Err(source) => Err(DecodeError::custom(asked, stored, source)),
            Ok(plain) => read(layout, plain.flags, plain.bytes)
                .map_err(|(_, why)| DecodeError::new(asked, layout, plain.flags, stored, why)),
        }
    }

    /// Appends a counter as the server's `incr` wants it, decimal text, and returns its flags.
    ///
    /// A custom codec is passed by: the server could not count in what it makes.
    pub(crate) fn encode_counter(&self, value: u64, out: &mut Vec<u8>) -> u32 {
        text::push_integer(value, out);
        self.layout().counter()
    }

    /// Reads a counter: decimal text with blanks around it, which `decr` leaves, under any flags but
    /// those that say that the number is in binary form.
    pub(crate) fn decode_counter(&self, flags: u32, bytes: Vec<u8>) -> Result<u64, DecodeError> {
        let layout = self.layout();
        let why = if layout.is_binary(flags) {
            Unreadable::BinaryCounter
        } else {
            match text::parse(&bytes, "a counter, a whole number from 0 to 2^64 - 1") {
                Ok(count) => return Ok(count),
                Err(error) => Unreadable::Mismatch(error),
            }
        };
        Err(DecodeError::new("counter", layout, flags, Payload { bytes, flags }, why))
    }

    fn layout(&self) -> &'static dyn Layout {
        match (&self.codec, self.primitives_as_strings) {
            (Codec::Json | Codec::Custom(_), false) => &Json { as_strings: false },
            (Codec::Json | Codec::Custom(_), true) => &Json { as_strings: true },
            (Codec::Whalin, false) => &Whalin { as_strings: false },
            (Codec::Whalin, true) => &Whalin { as_strings: true },
            (Codec::Raw, _) => &Raw,
        }
    }
}

/// Reads bytes under flags as `T`; gives the bytes back when that fails.
fn read<T: DeserializeOwned>(
    layout: &dyn Layout,
    flags: u32,
    bytes: Vec<u8>,
) -> Result<T, (Vec<u8>, Unreadable)> {
    let mut stored = match layout.read(flags, &bytes) {
        Ok(stored) => stored,
        Err(why) => return Err((bytes, why)),
    };
    if stored.is_text() && wants_string::<T>() {
        return read_string(bytes);
    }
    let mut first_error = None;
    loop {
        let error = match T::deserialize(stored) {
            Ok(value) => return Ok(value),
            Err(error) => first_error.unwrap_or(error),
        };
        match stored.second_reading() {
            Some(other) => stored = other,
            None => return Err((bytes, Unreadable::Mismatch(error))),
        }
        first_error = Some(error);
    }
}

/// Whether `T` is `String` itself, which takes the bytes over instead of copying them.
///
/// Only a shortcut: other types that hold a string may still refuse it, and then the bytes must be
/// there for the error.
fn wants_string<T>() -> bool {
    type_name::<T>() == type_name::<String>()
}

fn read_string<T: DeserializeOwned>(bytes: Vec<u8>) -> Result<T, (Vec<u8>, Unreadable)> {
    let string = String::from_utf8(bytes).map_err(|error| {
        let why = Unreadable::Mismatch(text::not_utf8(&error.utf8_error()));
        (error.into_bytes(), why)
    })?;
    T::deserialize(StringDeserializer::new(string))
        .map_err(|error| (Vec::new(), Unreadable::Mismatch(error)))
}
