//! Values to bytes and flags, and back: which codec a client uses, and the way through it.

mod binary;
mod choice;
mod compress;
mod custom;
mod dialect;
mod dialects;
mod elements;
mod error;
mod finite;
mod flags;
mod foreign;
mod json;
mod layout;
mod legend;
mod notation;
mod probe;
mod raw;
mod serialize;
mod serializing;
mod stored;
#[cfg(test)]
mod tests;
mod text;
mod whalin;

use std::any::type_name;
use std::mem;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::StringDeserializer;

pub use choice::Codec;
pub use custom::CustomCodec;
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use legend::FlagMeaning;

use crate::types::Payload;
use error::Unreadable;
use layout::{Layout, Style};
use serialize::TopLevel;

/// What a codec is told beside its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Whether numbers, booleans and chars are stored as strings.
    pub(crate) primitives_as_strings: bool,
    /// The length from which on values are compressed.
    pub(crate) compress_above: Option<usize>,
    /// The most bytes that a compressed value may have when inflated.
    pub(crate) max_inflated: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { primitives_as_strings: false, compress_above: None, max_inflated: 128 << 20 }
    }
}

/// A codec with its settings: the way of a value into bytes and back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcoder {
    codec: Codec,
    settings: Settings,
}

impl Transcoder {
    pub(crate) fn new(codec: Codec, settings: Settings) -> Self {
        Self { codec, settings }
    }

    /// Whether values that it stores may be compressed, so that nothing can be put before or behind them.
    pub(crate) fn compresses(&self) -> bool {
        self.compress_above().is_some() && !self.codec.layout().packings().is_empty()
    }

    /// A custom codec is left to itself.
    fn compress_above(&self) -> Option<usize> {
        match self.codec {
            Codec::Custom(_) => None,
            _ => self.settings.compress_above,
        }
    }

    /// Appends the value's bytes to `out` and returns its flags. On error `out` is as it was.
    pub(crate) fn encode<T: Serialize + ?Sized>(
        &self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<u32, EncodeError> {
        let start = out.len();
        let layout = self.codec.layout();
        let style = Style { layout, as_strings: self.settings.primitives_as_strings };
        let mut flags = 0;
        let serialized = value
            .serialize(TopLevel::new(out, &mut None, &mut flags, style))
            .map_err(|error| EncodeError::new(type_name::<T>(), layout.name(), error.to_string()));
        if let Err(error) = serialized {
            out.truncate(start);
            return Err(error);
        }
        // What would be too large to inflate again stays plain, and is refused for its size where there is a limit.
        let above =
            self.compress_above().filter(|_| out.len() - start <= self.settings.max_inflated);
        if let Some(above) = above {
            flags = compress::pack(layout, above, flags, out, start);
        }
        let Codec::Custom(custom) = &self.codec else { return Ok(flags) };
        let plain = Payload { bytes: out.split_off(start), flags };
        let changed = custom.encode(plain).map_err(|e| EncodeError::custom(type_name::<T>(), e))?;
        out.extend_from_slice(&changed.bytes);
        Ok(changed.flags)
    }

    /// Reads a stored value as `T`. The error takes the bytes along, and so may the value; else they stay.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        flags: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<T, DecodeError> {
        if let Codec::Custom(custom) = &self.codec {
            return self.decode_custom(custom.as_ref(), flags, bytes);
        }
        let layout = self.codec.layout();
        self.read(layout, flags, bytes)
            .map_err(|why| unreadable(type_name::<T>(), layout, flags, bytes, why))
    }

    fn decode_custom<T: DeserializeOwned>(
        &self,
        custom: &dyn CustomCodec,
        flags: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<T, DecodeError> {
        let (layout, asked) = (self.codec.layout(), type_name::<T>());
        let stored = Payload { bytes: mem::take(bytes), flags };
        match custom.decode(&stored) {
            Err(source) => Err(DecodeError::custom(asked, stored, source)),
            Ok(mut plain) => read_plain(layout, plain.flags, &mut plain.bytes)
                .map_err(|why| DecodeError::new(asked, layout, plain.flags, stored, why)),
        }
    }

    /// Appends a counter as the server's `incr` wants it, decimal text, and returns its flags.
    ///
    /// A custom codec is passed by: the server could not count in what it makes.
    pub(crate) fn encode_counter(&self, value: u64, out: &mut Vec<u8>) -> u32 {
        text::push_integer(value, out);
        self.codec.layout().counter(self.settings.primitives_as_strings)
    }

    /// Reads a counter: decimal text with blanks around it, which `decr` leaves, under any flags but
    /// those that say that the number is in binary form.
    pub(crate) fn decode_counter(&self, flags: u32, bytes: Vec<u8>) -> Result<u64, DecodeError> {
        let layout = self.codec.layout();
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

    /// Reads bytes under flags as `T`, inflated if they are compressed; the bytes stay when that fails.
    fn read<T: DeserializeOwned>(
        &self,
        layout: &dyn Layout,
        flags: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<T, Unreadable> {
        let Some((form, flags)) = compress::packed(layout, flags) else {
            return read_plain(layout, flags, bytes);
        };
        let mut plain = compress::unpack(form, bytes, self.settings.max_inflated)?;
        read_plain(layout, flags, &mut plain)
    }
}

/// The error of a value that could not be read; it takes the bytes along.
#[cold]
fn unreadable(
    asked: &'static str,
    layout: &dyn Layout,
    flags: u32,
    bytes: &mut Vec<u8>,
    why: Unreadable,
) -> DecodeError {
    DecodeError::new(asked, layout, flags, Payload { bytes: mem::take(bytes), flags }, why)
}

/// Reads bytes under flags as `T`; they stay when that fails.
fn read_plain<T: DeserializeOwned>(
    layout: &dyn Layout,
    flags: u32,
    bytes: &mut Vec<u8>,
) -> Result<T, Unreadable> {
    let stored = layout.read(flags, bytes);
    // Asked where it lies: moving it takes longer.
    if takes_bytes::<T>() && stored.as_ref().is_ok_and(|stored| stored.is_text(bytes.len())) {
        return read_string(bytes);
    }
    let mut stored = stored?;
    let mut first_error = None;
    loop {
        let error = match T::deserialize(stored) {
            Ok(value) => return Ok(value),
            Err(error) => first_error.unwrap_or(error),
        };
        match stored.second_reading() {
            Some(other) => stored = other,
            None => return Err(Unreadable::Mismatch(error)),
        }
        first_error = Some(error);
    }
}

/// Whether `T` is `String` itself, which takes the bytes over instead of copying them.
///
/// Only a shortcut: other types that hold a string may still refuse it, and then the bytes must be
/// there for the error.
pub(crate) fn takes_bytes<T>() -> bool {
    type_name::<T>() == type_name::<String>()
}

fn read_string<T: DeserializeOwned>(bytes: &mut Vec<u8>) -> Result<T, Unreadable> {
    let string = String::from_utf8(mem::take(bytes)).map_err(|error| {
        let why = Unreadable::Mismatch(text::not_utf8(&error.utf8_error()));
        *bytes = error.into_bytes();
        why
    })?;
    T::deserialize(StringDeserializer::new(string)).map_err(Unreadable::Mismatch)
}
