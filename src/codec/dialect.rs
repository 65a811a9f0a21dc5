//! Clients that store numbers as text: a table per client, and what all of them do with it.

use serde::ser::Error as _;
use serde_json::Error;

use super::compress::Packing;
use super::error::{Format, Unreadable};
use super::flags;
use super::foreign::{marshal, php, pickle};
use super::layout::{Dressed, Layout};
use super::notation::Notation;
use super::stored::Stored;
use super::text::{self, Primitive};

/// One client's way.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    pub(super) name: &'static str,
    pub(super) text: u32,
    /// The flags of text that nothing is put around.
    pub(super) plain: u32,
    pub(super) bytes: u32,
    pub(super) json: u32,
    /// Whether strings are JSON, too.
    pub(super) quoted: bool,
    /// `None`: flags and bytes.
    pub(super) none: (u32, &'static [u8]),
    pub(super) booleans: Booleans,
    pub(super) integers: Integers,
    pub(super) floats: Floats,
    /// What is put around strings and byte sequences.
    pub(super) dress: fn(Dressed, &mut Vec<u8>, usize),
    /// The flags of a counter, which is decimal text.
    pub(super) counter: u32,
    /// The bits of the flags that the client looks at; the others are its user's.
    pub(super) significant: u32,
    /// What the flags say, compression and the user's bits apart.
    pub(super) readings: &'static [(u32, Reading)],
    pub(super) packings: &'static [Packing],
}

/// How a `bool` is stored: the flags, and the bytes of `true` and `false`.
#[derive(Clone, Copy)]
pub(super) struct Booleans(pub(super) u32, pub(super) &'static [u8], pub(super) &'static [u8]);

/// How an integer is stored.
#[derive(Clone, Copy)]
pub(super) enum Integers {
    /// Under these flags, as text.
    Text(u32),
    /// Under these flags, as text; beyond `i64` the client has none.
    Text64(u32),
    /// Under these flags, in the language's own format.
    Own(u32, fn(i128, &mut Vec<u8>)),
}

/// How a float is stored.
#[derive(Clone, Copy)]
pub(super) enum Floats {
    /// Under these flags, as text that JSON has for it, or a word for what JSON has no number for.
    Json(u32),
    /// Under these flags, as text.
    Text(u32, &'static Notation),
    /// Under these flags, in the language's own format.
    Own(u32, fn(f64, &mut Vec<u8>)),
}

/// What bytes are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    /// Text or bytes; what is inside is not told.
    Text,
    Json,
    /// A whole number as text.
    Integer,
    Float,
    Bool,
    /// A stored `None`; no bytes.
    None,
    /// `serialize` of PHP.
    Php,
    Pickle,
    /// `Marshal` of Ruby, or the JSON of a Dalli that is told to use it.
    MarshalOrJson,
    /// What only its own language reads.
    Foreign(Format),
}

impl Layout for Dialect {
    fn name(&self) -> &'static str {
        self.name
    }

    fn string(&self) -> u32 {
        self.text
    }

    fn quotes_strings(&self) -> bool {
        self.quoted
    }

    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn none(&self, out: &mut Vec<u8>) -> Result<u32, Error> {
        let (flags, bytes) = self.none;
        out.extend_from_slice(bytes);
        Ok(flags)
    }

    fn structure(&self) -> Result<u32, Error> {
        Ok(self.json)
    }

    fn dress(&self, kind: Dressed, out: &mut Vec<u8>, start: usize) {
        (self.dress)(kind, out, start);
    }

    fn counter(&self, _as_strings: bool) -> u32 {
        self.counter
    }

    fn is_binary(&self, flags: u32) -> bool {
        matches!(self.integers, Integers::Own(number, _) if number == flags)
    }

    fn primitive(
        &self,
        value: Primitive,
        as_strings: bool,
        out: &mut Vec<u8>,
    ) -> Result<u32, Error> {
        let start = out.len();
        if as_strings {
            value.push_json(out)?;
            return Ok(self.plain);
        }
        match value {
            Primitive::Bool(value) => {
                let Booleans(flags, yes, no) = self.booleans;
                out.extend_from_slice(if value { yes } else { no });
                Ok(flags)
            }
            Primitive::Char(value) if self.quoted => {
                serde_json::to_writer(out, &value)?;
                Ok(self.json)
            }
            Primitive::Char(_) => {
                value.push_json(out)?;
                self.dress(Dressed::Text, out, start);
                Ok(self.text)
            }
            Primitive::F32(value) => self.float(f64::from(value), out),
            Primitive::F64(value) => self.float(value, out),
            _ => self.integer(value, out),
        }
    }

    fn read<'a>(&self, flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable> {
        let reading = self.reading(flags).ok_or(Unreadable::UnknownFlags)?;
        match reading {
            Reading::Text => Ok(Stored::Text(bytes)),
            Reading::Json => Ok(Stored::Json(bytes)),
            Reading::Integer => Ok(Stored::Number(bytes)),
            Reading::Float => {
                text::parse(bytes, "a float").map(Stored::F64).map_err(Unreadable::Mismatch)
            }
            Reading::Bool => read_bool(bytes).map_err(Unreadable::Mismatch),
            Reading::None => Ok(Stored::None),
            Reading::Php if bytes == php::NULL => Ok(Stored::None),
            Reading::Php => php::check(bytes).map(|()| Stored::Php(bytes)),
            Reading::Pickle => pickle::read(bytes),
            Reading::MarshalOrJson => marshal::read(bytes),
            Reading::Foreign(format) => Err(Unreadable::Foreign(format)),
        }
    }

    fn meaning(&self, flags: u32) -> Option<String> {
        self.reading(flags).map(|reading| reading.words().to_owned())
    }

    fn packings(&self) -> &'static [Packing] {
        self.packings
    }
}

impl Dialect {
    fn reading(&self, flags: u32) -> Option<Reading> {
        let flags = flags & self.significant;
        let row = self.readings.iter().find(|(number, _)| *number == flags);
        match row {
            Some((_, reading)) => Some(*reading),
            // Numbers of our own, which the client has not.
            None if flags == self.json => Some(Reading::Json),
            None if flags == flags::NONE => Some(Reading::None),
            None => None,
        }
    }

    fn integer(&self, value: Primitive, out: &mut Vec<u8>) -> Result<u32, Error> {
        let beyond = |_| {
            let mut digits = Vec::new();
            value.push_json(&mut digits)?;
            Err(Error::custom(format_args!(
                "{} is beyond the integers of this client; primitives_as_strings stores it as text",
                text::Shown(&digits)
            )))
        };
        match (self.integers, value.whole()) {
            (Integers::Text64(_), whole) if whole.is_none_or(|n| i64::try_from(n).is_err()) => {
                beyond(())
            }
            (Integers::Text(flags) | Integers::Text64(flags), _) => {
                value.push_json(out)?;
                Ok(flags)
            }
            (Integers::Own(flags, push), Some(whole)) => {
                push(whole, out);
                Ok(flags)
            }
            (Integers::Own(..), None) => beyond(()),
        }
    }

    fn float(&self, value: f64, out: &mut Vec<u8>) -> Result<u32, Error> {
        let refused = || {
            Error::custom(format_args!(
                "this client reads no {value}; primitives_as_strings stores it as text"
            ))
        };
        match self.floats {
            Floats::Json(flags) if value.is_finite() || flags == self.text => {
                Primitive::F64(value).push_json(out)?;
                Ok(flags)
            }
            Floats::Json(_) => Err(refused()),
            Floats::Text(flags, notation) => {
                if notation.push(value, out) {
                    Ok(flags)
                } else {
                    Err(refused())
                }
            }
            Floats::Own(flags, push) => {
                push(value, out);
                Ok(flags)
            }
        }
    }
}

impl Reading {
    fn words(self) -> &'static str {
        match self {
            Self::Text => "text or bytes",
            Self::Json => "JSON",
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Bool => "a boolean",
            Self::None => "a stored None",
            Self::Php => "PHP serialize",
            Self::Pickle => "a pickle",
            Self::MarshalOrJson => "serialized by Dalli",
            Self::Foreign(format) => format.what(),
        }
    }
}

/// `1` is true; `0` and nothing at all are false.
fn read_bool(bytes: &[u8]) -> Result<Stored<'_>, Error> {
    match bytes {
        b"1" => Ok(Stored::Bool(true)),
        b"0" | b"" => Ok(Stored::Bool(false)),
        _ => Err(Error::custom(format_args!("{} is no boolean", text::Shown(bytes)))),
    }
}
