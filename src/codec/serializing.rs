//! The layout of spymemcached's and xmemcached's `SerializingTranscoder`: numbers in as few bytes as they need.

use serde::ser::Error as _;
use serde_json::Error;

use super::binary::{exactly, packed, push, unpacked};
use super::compress::Packing;
use super::error::{Format, Unreadable};
use super::flags;
use super::layout::Layout;
use super::stored::Stored;
use super::text::Primitive;

const SERIALIZED: u32 = 1;
const BOOLEAN: u32 = 0x100;
const INT: u32 = 0x200;
const LONG: u32 = 0x300;
const DATE: u32 = 0x400;
const BYTE: u32 = 0x500;
const FLOAT: u32 = 0x600;
const DOUBLE: u32 = 0x700;
const BYTES: u32 = 0x800;

/// The bits that the clients look at: compression and serialization in the low byte, the type above it.
const SIGNIFICANT: u32 = 0xff00 | SERIALIZED;
/// Our mark of JSON, in a bit that they pass over: they read a string.
const JSON: u32 = 0x20;

/// Names of the types.
const TYPES: [(u32, &str); 9] = [
    (0, "String"),
    (BOOLEAN, "Boolean"),
    (INT, "Integer"),
    (LONG, "Long"),
    (DATE, "Date"),
    (BYTE, "Byte"),
    (FLOAT, "Float"),
    (DOUBLE, "Double"),
    (BYTES, "byte[]"),
];

/// The layout, with the client's name.
pub(super) struct Serializing(pub(super) &'static str);

pub(super) static SPYMEMCACHED: Serializing = Serializing("Spymemcached");
pub(super) static XMEMCACHED: Serializing = Serializing("Xmemcached");

impl Layout for Serializing {
    fn name(&self) -> &'static str {
        self.0
    }

    fn bytes(&self) -> u32 {
        BYTES
    }

    fn structure(&self) -> Result<u32, Error> {
        Ok(JSON)
    }

    fn counter(&self, _as_strings: bool) -> u32 {
        flags::TEXT
    }

    fn primitive(
        &self,
        value: Primitive,
        as_strings: bool,
        out: &mut Vec<u8>,
    ) -> Result<u32, Error> {
        if as_strings {
            value.push_java(out);
            return Ok(flags::TEXT);
        }
        match value {
            Primitive::Bool(v) => push(BOOLEAN, if v { b"1" } else { b"0" }, out),
            Primitive::Char(_) => {
                value.push_java(out);
                Ok(flags::TEXT)
            }
            Primitive::I8(v) => push(BYTE, &v.to_be_bytes(), out),
            Primitive::U8(v) => push(INT, packed(&i32::from(v).to_be_bytes()), out),
            Primitive::I16(v) => push(INT, packed(&i32::from(v).to_be_bytes()), out),
            Primitive::U16(v) => push(INT, packed(&i32::from(v).to_be_bytes()), out),
            Primitive::I32(v) => push(INT, packed(&v.to_be_bytes()), out),
            Primitive::U32(v) => push(LONG, packed(&i64::from(v).to_be_bytes()), out),
            Primitive::I64(v) => push(LONG, packed(&v.to_be_bytes()), out),
            Primitive::U64(v) => match i64::try_from(v) {
                Ok(v) => push(LONG, packed(&v.to_be_bytes()), out),
                Err(_) => Err(Error::custom(format_args!(
                    "{v} is beyond Java's Long; primitives_as_strings stores it as text"
                ))),
            },
            // Java has one NaN.
            Primitive::F32(v) if v.is_nan() => push(FLOAT, &0x7fc0_0000_u32.to_be_bytes(), out),
            Primitive::F32(v) => push(FLOAT, packed(&v.to_be_bytes()), out),
            Primitive::F64(v) if v.is_nan() => push(DOUBLE, &(0x7ff8_u64 << 48).to_be_bytes(), out),
            Primitive::F64(v) => push(DOUBLE, packed(&v.to_be_bytes()), out),
            Primitive::I128(_) | Primitive::U128(_) => {
                value.push_json(out)?;
                Ok(JSON)
            }
        }
    }

    fn read<'a>(&self, flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable> {
        if flags == JSON {
            return Ok(Stored::Json(bytes));
        }
        if flags == flags::NONE {
            return Ok(Stored::None);
        }
        if flags & SERIALIZED != 0 {
            return Err(Unreadable::Foreign(Format::Java));
        }
        read_type(flags, bytes)
    }

    fn is_binary(&self, flags: u32) -> bool {
        matches!(flags & SIGNIFICANT, BOOLEAN..=DOUBLE)
    }

    fn meaning(&self, flags: u32) -> Option<String> {
        let named = || TYPES.iter().find(|(number, _)| *number == flags).map(|(_, name)| *name);
        let words = match flags {
            JSON => "JSON",
            flags::NONE => "a stored None",
            _ if flags & SERIALIZED != 0 => Format::Java.what(),
            _ => named()?,
        };
        Some(words.to_owned())
    }

    fn packings(&self) -> &'static [Packing] {
        &[Packing::GZIP]
    }
}

fn read_type(flags: u32, bytes: &[u8]) -> Result<Stored<'_>, Unreadable> {
    let mismatch = Unreadable::Mismatch;
    Ok(match flags {
        flags::TEXT => Stored::Text(bytes),
        BYTES => Stored::Bytes(bytes),
        BOOLEAN => match bytes {
            b"1" => Stored::Bool(true),
            b"0" => Stored::Bool(false),
            _ => return Err(mismatch(Error::custom("no Boolean, which is `1` or `0`"))),
        },
        BYTE => Stored::Int(i8::from_be_bytes(exactly(bytes).map_err(mismatch)?).into()),
        INT => Stored::Int(i32::from_be_bytes(unpacked(bytes).map_err(mismatch)?).into()),
        LONG => Stored::Int(i64::from_be_bytes(unpacked(bytes).map_err(mismatch)?).into()),
        DATE => Stored::Millis(i64::from_be_bytes(unpacked(bytes).map_err(mismatch)?)),
        FLOAT => Stored::F32(f32::from_be_bytes(unpacked(bytes).map_err(mismatch)?)),
        DOUBLE => Stored::F64(f64::from_be_bytes(unpacked(bytes).map_err(mismatch)?)),
        _ => return Err(Unreadable::UnknownFlags),
    })
}
