//! Python's pickles of `None`, `bool` and `float`: constants and one number, no machine that runs opcodes.

use crate::codec::error::{Format, Unreadable};
use crate::codec::notation::PYTHON;
use crate::codec::stored::Stored;
use crate::codec::text;

/// `None`, `True` and `False` of the newest protocol.
pub(in crate::codec) const NONE: &[u8] = b"\x80\x05N.";
pub(in crate::codec) const TRUE: &[u8] = b"\x80\x05\x88.";
pub(in crate::codec) const FALSE: &[u8] = b"\x80\x05\x89.";

/// The same of protocol 0, which every Python reads.
pub(in crate::codec) const NONE_0: &[u8] = b"N.";
pub(in crate::codec) const TRUE_0: &[u8] = b"I01\n.";
pub(in crate::codec) const FALSE_0: &[u8] = b"I00\n.";

/// What stands before a float of protocol 5: `PROTO 5`, `FRAME` of 10 bytes, `BINFLOAT`.
const FLOAT: &[u8] = b"\x80\x05\x95\x0a\0\0\0\0\0\0\0G";

/// The opcodes `PROTO` and `FRAME`.
const PROTO: u8 = 0x80;
const FRAME: u8 = 0x95;

/// Appends a float of protocol 5.
pub(in crate::codec) fn push_float(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(FLOAT);
    out.extend_from_slice(&value.to_be_bytes());
    out.push(b'.');
}

/// Appends a float of protocol 0: its `repr`.
pub(in crate::codec) fn push_float_0(value: f64, out: &mut Vec<u8>) {
    out.push(b'F');
    PYTHON.push(value, out);
    out.extend_from_slice(b"\n.");
}

/// Reads a pickle of any protocol.
pub(in crate::codec) fn read(bytes: &[u8]) -> Result<Stored<'_>, Unreadable> {
    scalar(body(bytes)).ok_or(Unreadable::Foreign(Format::Pickle))
}

/// The opcodes behind the header.
fn body(bytes: &[u8]) -> &[u8] {
    let bytes = match bytes {
        [PROTO, _, rest @ ..] => rest,
        _ => bytes,
    };
    match bytes.split_first_chunk::<9>() {
        Some(([FRAME, ..], rest)) => rest,
        _ => bytes,
    }
}

fn scalar(body: &[u8]) -> Option<Stored<'_>> {
    Some(match body {
        b"N." => Stored::None,
        b"\x88." | b"I01\n." => Stored::Bool(true),
        b"\x89." | b"I00\n." => Stored::Bool(false),
        [b'G', number @ .., b'.'] => Stored::F64(f64::from_be_bytes(number.try_into().ok()?)),
        [b'F', number @ .., b'\n', b'.'] => Stored::F64(text::parse(number, "a float").ok()?),
        _ => return None,
    })
}
