//! The layouts of Whalin's Java client, versions 2.0.1 to 3.0.2: numbers in binary, one flag bit a type.

use serde::de::Error as _;
use serde_json::Error;

use super::binary::{exactly, push};
use super::compress::Packing;
use super::error::{Format, Unreadable};
use super::flags;
use super::layout::Layout;
use super::stored::Stored;
use super::text::Primitive;

const BYTE: u32 = 1;
const COMPRESSED: u32 = 2;
const INTEGER: u32 = 4;
const SERIALIZED: u32 = 8;
const CHARACTER: u32 = 16;
const STRING: u32 = 32;
const STRING_BUFFER: u32 = 64;
const FLOAT: u32 = 128;
const SHORT: u32 = 256;
const DOUBLE: u32 = 512;
const DATE: u32 = 1024;
const STRING_BUILDER: u32 = 2048;
const BYTES: u32 = 4096;
const BOOLEAN: u32 = 8192;
const LONG: u32 = 16384;

/// Names of the bits.
const BITS: [(u32, &str); 15] = [
    (COMPRESSED, "compressed"),
    (SERIALIZED, "serialized Java object"),
    (BYTE, "Byte"),
    (BOOLEAN, "Boolean"),
    (INTEGER, "Integer"),
    (LONG, "Long"),
    (CHARACTER, "Character"),
    (STRING, "String"),
    (STRING_BUFFER, "StringBuffer"),
    (FLOAT, "Float"),
    (SHORT, "Short"),
    (DOUBLE, "Double"),
    (DATE, "Date"),
    (STRING_BUILDER, "StringBuilder"),
    (BYTES, "byte[]"),
];

/// How a Java object stream begins: `STREAM_MAGIC` and `STREAM_VERSION`.
const JAVA_OBJECT: [u8; 4] = [0xac, 0xed, 0, 5];

/// The layout.
pub(super) struct Whalin;

impl Layout for Whalin {
    fn name(&self) -> &'static str {
        "Whalin"
    }

    fn string(&self) -> u32 {
        STRING
    }

    fn bytes(&self) -> u32 {
        BYTES
    }

    fn counter(&self, _as_strings: bool) -> u32 {
        STRING
    }

    fn primitive(
        &self,
        value: Primitive,
        as_strings: bool,
        out: &mut Vec<u8>,
    ) -> Result<u32, Error> {
        if as_strings {
            value.push_java(out);
            return Ok(STRING);
        }
        push_binary(value, out)
    }

    fn read<'a>(&self, flags: u32, bytes: &'a [u8]) -> Result<Stored<'a>, Unreadable> {
        match flags {
            flags::TEXT if bytes.starts_with(&JAVA_OBJECT) => {
                Err(Unreadable::Foreign(Format::Java))
            }
            flags::TEXT => Ok(Stored::Text(bytes)),
            flags::JSON => Ok(Stored::Json(bytes)),
            flags::NONE => Ok(Stored::None),
            _ if unknown_bits(flags) != 0 => Err(Unreadable::UnknownFlags),
            _ if flags & SERIALIZED != 0 => Err(Unreadable::Foreign(Format::Java)),
            // This client sets one bit for the type: another one wrote it, whose numbers mean something else.
            _ if (flags & !COMPRESSED).count_ones() > 1 => Err(Unreadable::UnknownFlags),
            _ => read_type(type_bit(flags), bytes).map_err(Unreadable::Mismatch),
        }
    }

    fn is_binary(&self, flags: u32) -> bool {
        let texts = COMPRESSED | SERIALIZED | STRING | STRING_BUFFER | STRING_BUILDER | BYTES;
        unknown_bits(flags) == 0 && type_bit(flags) & !texts != 0
    }

    fn meaning(&self, flags: u32) -> Option<String> {
        if let Some(own) = flags::meaning(flags).filter(|_| flags != flags::BYTES) {
            return Some(own.to_owned());
        }
        if unknown_bits(flags) != 0 {
            return None;
        }
        let set = BITS.iter().filter(|(bit, _)| flags & bit != 0);
        Some(set.map(|(_, name)| *name).collect::<Vec<_>>().join(", "))
    }

    fn packings(&self) -> &'static [Packing] {
        &[Packing::GZIP]
    }
}

fn unknown_bits(flags: u32) -> u32 {
    flags & !BITS.iter().fold(0, |all, (bit, _)| all | bit)
}

/// The bit of the type; 0 when none is set.
fn type_bit(flags: u32) -> u32 {
    BITS.iter().map(|(bit, _)| bit & flags).find(|bit| *bit != 0).unwrap_or(0)
}

fn push_binary(value: Primitive, out: &mut Vec<u8>) -> Result<u32, Error> {
    let int = |v: i32| v.to_be_bytes();
    let long = |v: i64| v.to_be_bytes();
    match value {
        Primitive::Bool(v) => push(BOOLEAN, &[u8::from(v)], out),
        Primitive::I8(v) => push(BYTE, &v.to_be_bytes(), out),
        Primitive::U8(v) => push(SHORT, &int(v.into()), out),
        Primitive::I16(v) => push(SHORT, &int(v.into()), out),
        Primitive::U16(v) => push(INTEGER, &int(v.into()), out),
        Primitive::I32(v) => push(INTEGER, &int(v), out),
        Primitive::U32(v) => push(LONG, &long(v.into()), out),
        Primitive::I64(v) => push(LONG, &long(v), out),
        Primitive::U64(v) => match i64::try_from(v) {
            Ok(v) => push(LONG, &long(v), out),
            Err(_) => Err(Error::custom(format_args!(
                "{v} is beyond Java's Long; primitives_as_strings stores it as text"
            ))),
        },
        // Java has one NaN.
        Primitive::F32(v) if v.is_nan() => push(FLOAT, &0x7fc0_0000_u32.to_be_bytes(), out),
        Primitive::F32(v) => push(FLOAT, &v.to_be_bytes(), out),
        Primitive::F64(v) if v.is_nan() => push(DOUBLE, &(0x7ff8_u64 << 48).to_be_bytes(), out),
        Primitive::F64(v) => push(DOUBLE, &v.to_be_bytes(), out),
        Primitive::Char(v) => match u16::try_from(u32::from(v)) {
            Ok(unit) => push(CHARACTER, &int(unit.into()), out),
            // Java's Character is one UTF-16 unit.
            Err(_) => push(STRING, v.encode_utf8(&mut [0; 4]).as_bytes(), out),
        },
        Primitive::I128(_) | Primitive::U128(_) => {
            value.push_json(out)?;
            Ok(flags::JSON)
        }
    }
}

fn read_type(bit: u32, bytes: &[u8]) -> Result<Stored<'_>, Error> {
    Ok(match bit {
        BYTE => Stored::Int(i8::from_be_bytes(exactly(bytes)?).into()),
        // As the client does: 1 is true, anything else false.
        BOOLEAN => Stored::Bool(exactly::<1>(bytes)? == [1]),
        INTEGER | SHORT => Stored::Int(i32::from_be_bytes(exactly(bytes)?).into()),
        LONG => Stored::Int(i64::from_be_bytes(exactly(bytes)?).into()),
        CHARACTER => {
            let unit = u32::from_be_bytes(exactly(bytes)?);
            match u16::try_from(unit).ok().and_then(|unit| char::from_u32(unit.into())) {
                Some(char) => Stored::Char(char),
                None => {
                    return Err(Error::custom(format_args!("0x{unit:x} is not a character")));
                }
            }
        }
        FLOAT => Stored::F32(f32::from_be_bytes(exactly(bytes)?)),
        DOUBLE => Stored::F64(f64::from_be_bytes(exactly(bytes)?)),
        DATE => Stored::Millis(i64::from_be_bytes(exactly(bytes)?)),
        BYTES => Stored::Bytes(bytes),
        _ => Stored::Text(bytes),
    })
}
