//! Ruby's `Marshal` of plain values: `nil`, booleans, numbers and strings; arrays, hashes and objects are named.

use crate::codec::error::{Format, Unreadable};
use crate::codec::layout::Dressed;
use crate::codec::notation::MARSHAL;
use crate::codec::stored::Stored;
use crate::codec::text;

/// `nil`, `true` and `false`.
pub(in crate::codec) const NIL: &[u8] = b"\x04\x080";
pub(in crate::codec) const TRUE: &[u8] = b"\x04\x08T";
pub(in crate::codec) const FALSE: &[u8] = b"\x04\x08F";

/// The version that every dump begins with; no JSON does.
const VERSION: &[u8] = b"\x04\x08";
/// What stands behind a string in UTF-8: one instance variable, `:E`, is `true`.
const UTF8: &[u8] = b"\x06:\x06ET";
/// The same of a string in ASCII.
const ASCII: &[u8] = b"\x06:\x06EF";
/// Integers beyond 31 bits have a form of their own.
const FIXNUM: std::ops::Range<i128> = -(1 << 30)..1 << 30;

/// Makes a string or byte sequence, which stands in `out` from `start` on, Ruby's.
pub(in crate::codec) fn dress(kind: Dressed, out: &mut Vec<u8>, start: usize) {
    let mut header = VERSION.to_vec();
    if kind == Dressed::Text {
        header.push(b'I');
    }
    header.push(b'"');
    push_long(out.len() - start, &mut header);
    out.splice(start..start, header);
    if kind == Dressed::Text {
        out.extend_from_slice(UTF8);
    }
}

/// Appends an integer of any size.
pub(in crate::codec) fn push_integer(value: i128, out: &mut Vec<u8>) {
    out.extend_from_slice(VERSION);
    if FIXNUM.contains(&value) {
        out.push(b'i');
        push_small(value, out);
        return;
    }
    out.extend_from_slice(if value < 0 { b"l-" } else { b"l+" });
    let mut digits = value.unsigned_abs().to_le_bytes().to_vec();
    while digits.ends_with(&[0, 0]) {
        digits.truncate(digits.len() - 2);
    }
    push_long(digits.len() / 2, out);
    out.extend_from_slice(&digits);
}

/// Appends a float.
pub(in crate::codec) fn push_float(value: f64, out: &mut Vec<u8>) {
    let mut text = Vec::new();
    MARSHAL.push(value, &mut text);
    out.extend_from_slice(VERSION);
    out.push(b'f');
    push_long(text.len(), out);
    out.extend_from_slice(&text);
}

/// Appends a length.
fn push_long(length: usize, out: &mut Vec<u8>) {
    push_small(i128::try_from(length).unwrap_or(i128::MAX), out);
}

/// Appends an integer of at most four bytes: one byte near zero, else their number and they, lowest first.
fn push_small(value: i128, out: &mut Vec<u8>) {
    let near = match value {
        0 => Some(0),
        1..=122 => i8::try_from(value + 5).ok(),
        -123..=-1 => i8::try_from(value - 5).ok(),
        _ => None,
    };
    if let Some(near) = near {
        out.extend_from_slice(&near.to_le_bytes());
        return;
    }
    let filler = if value < 0 { 0xff } else { 0 };
    let bytes = value.to_le_bytes();
    let count = bytes.iter().rposition(|byte| *byte != filler).map_or(1, |last| last + 1);
    let sign = i8::try_from(count).unwrap_or(i8::MAX);
    out.extend_from_slice(&(if value < 0 { -sign } else { sign }).to_le_bytes());
    out.extend(bytes.iter().take(count));
}

/// Reads what stands under the mark of a serialized value: a dump, or the JSON of a Dalli that is told to use it.
pub(in crate::codec) fn read(bytes: &[u8]) -> Result<Stored<'_>, Unreadable> {
    match bytes.strip_prefix(VERSION) {
        Some(dump) => scalar(dump).ok_or(Unreadable::Foreign(Format::Marshal)),
        None => Ok(Stored::Json(bytes)),
    }
}

fn scalar(dump: &[u8]) -> Option<Stored<'_>> {
    match dump {
        b"0" => Some(Stored::None),
        b"T" => Some(Stored::Bool(true)),
        b"F" => Some(Stored::Bool(false)),
        [b'i', rest @ ..] => match long(rest)? {
            (value, []) => Some(Stored::Int(value)),
            _ => None,
        },
        [b'l', sign @ (b'+' | b'-'), rest @ ..] => bignum(*sign == b'-', rest).map(Stored::Int),
        [b'f', rest @ ..] => match counted(rest)? {
            (number, []) => text::parse(number, "a float").ok().map(Stored::F64),
            _ => None,
        },
        // Without an encoding: bytes.
        [b'"', rest @ ..] => match counted(rest)? {
            (bytes, []) => Some(Stored::Bytes(bytes)),
            _ => None,
        },
        [b'I', b'"', rest @ ..] => match counted(rest)? {
            (text, UTF8 | ASCII) => Some(Stored::Text(text)),
            _ => None,
        },
        // A symbol.
        [b':', rest @ ..] => match counted(rest)? {
            (text, []) => Some(Stored::Text(text)),
            _ => None,
        },
        _ => None,
    }
}

/// A length, and as many bytes; what is left.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = long(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// An integer of at most four bytes; what is left.
fn long(bytes: &[u8]) -> Option<(i128, &[u8])> {
    let (first, rest) = bytes.split_first_chunk::<1>()?;
    let first = i128::from(i8::from_le_bytes(*first));
    let (count, filler) = match first {
        0 => return Some((0, rest)),
        5.. => return Some((first - 5, rest)),
        ..=-5 => return Some((first + 5, rest)),
        1..=4 => (first, 0_u8),
        _ => (-first, 0xff),
    };
    let (digits, rest) = rest.split_at_checked(usize::try_from(count).ok()?)?;
    Some((from_le(digits, filler), rest))
}

/// An integer of more than 31 bits: how many pairs of bytes, and they.
fn bignum(negative: bool, bytes: &[u8]) -> Option<i128> {
    let (pairs, digits) = long(bytes)?;
    if i128::try_from(digits.len()).ok()? != pairs.checked_mul(2)? {
        return None;
    }
    let mut magnitude = [0; 16];
    magnitude.get_mut(..digits.len())?.copy_from_slice(digits);
    let magnitude = u128::from_le_bytes(magnitude);
    if negative { 0_i128.checked_sub_unsigned(magnitude) } else { i128::try_from(magnitude).ok() }
}

/// The number of these bytes, at most four and lowest first, with `filler` above them.
fn from_le(digits: &[u8], filler: u8) -> i128 {
    let mut bytes = [filler; 16];
    bytes.iter_mut().zip(digits).for_each(|(to, from)| *to = *from);
    i128::from_le_bytes(bytes)
}
