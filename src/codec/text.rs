//! Primitives as text, and text as numbers.

use std::fmt::{Debug, LowerExp};
use std::str::{self, FromStr, Utf8Error};

use serde::de::Error as _;
use serde_json::Error;

/// A number, boolean or char, as wide as serde told it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Primitive {
    Bool(bool),
    Char(char),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F32(f32),
    F64(f64),
}

impl Primitive {
    /// The integer, if it is one and 128 bits with a sign hold it.
    pub(super) fn whole(self) -> Option<i128> {
        match self {
            Self::I8(v) => Some(v.into()),
            Self::I16(v) => Some(v.into()),
            Self::I32(v) => Some(v.into()),
            Self::I64(v) => Some(v.into()),
            Self::I128(v) => Some(v),
            Self::U8(v) => Some(v.into()),
            Self::U16(v) => Some(v.into()),
            Self::U32(v) => Some(v.into()),
            Self::U64(v) => Some(v.into()),
            Self::U128(v) => i128::try_from(v).ok(),
            Self::Bool(_) | Self::Char(_) | Self::F32(_) | Self::F64(_) => None,
        }
    }

    /// Whether this is a NaN or an infinity.
    pub(super) fn is_not_finite(self) -> bool {
        match self {
            Self::F32(v) => !v.is_finite(),
            Self::F64(v) => !v.is_finite(),
            _ => false,
        }
    }

    /// Appends the text that JSON has for it, without quotes around a char; `NaN`, `Infinity` and
    /// `-Infinity` for what JSON has no number for.
    pub(super) fn push_json(self, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Self::F32(v) if v.is_finite() => serde_json::to_writer(out, &v)?,
            Self::F64(v) if v.is_finite() => serde_json::to_writer(out, &v)?,
            _ => self.push_java(out),
        }
        Ok(())
    }

    /// Appends what Java's `toString` makes of it.
    pub(super) fn push_java(self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(v) => out.extend_from_slice(if v { b"true" } else { b"false" }),
            Self::Char(v) => out.extend_from_slice(v.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::I8(v) => push_integer(v, out),
            Self::I16(v) => push_integer(v, out),
            Self::I32(v) => push_integer(v, out),
            Self::I64(v) => push_integer(v, out),
            Self::I128(v) => push_integer(v, out),
            Self::U8(v) => push_integer(v, out),
            Self::U16(v) => push_integer(v, out),
            Self::U32(v) => push_integer(v, out),
            Self::U64(v) => push_integer(v, out),
            Self::U128(v) => push_integer(v, out),
            Self::F32(v) => out.extend_from_slice(java_float(v).as_bytes()),
            Self::F64(v) => out.extend_from_slice(java_float(v).as_bytes()),
        }
    }
}

/// Appends an integer in decimal digits.
pub(super) fn push_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The text of a float as `Double.toString` and `Float.toString` specify it: plain digits from 10^-3
/// up to 10^7, else a mantissa of at least two digits and an exponent behind `E`.
fn java_float<F: Copy + Into<f64> + Debug + LowerExp>(value: F) -> String {
    let wide: f64 = value.into();
    if wide.is_nan() {
        return "NaN".to_owned();
    }
    if wide.is_infinite() {
        return if wide > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if wide == 0.0 || (1e-3..1e7).contains(&wide.abs()) {
        return format!("{value:?}");
    }
    let shortest = format!("{value:e}");
    let two_digits = if shortest.contains('.') { shortest } else { format!("{value:.1e}") };
    two_digits.replace('e', "E")
}

/// The number, `bool` or other plain value that the text holds, with blanks around it ignored.
///
/// Nothing is cut: a number that `N` cannot hold is an error. `wanted` stands in its text.
pub(super) fn parse<N: FromStr>(bytes: &[u8], wanted: &str) -> Result<N, Error> {
    let text = str::from_utf8(bytes.trim_ascii()).ok();
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::custom(format_args!("{} is not {wanted}", Shown(bytes))))
}

/// The nearest float to the text; an error if a finite number would become infinite.
pub(super) fn parse_float<F>(bytes: &[u8]) -> Result<F, Error>
where
    F: FromStr + Copy + Into<f64>,
{
    let float: F = parse(bytes, "a number")?;
    let names_infinity = || bytes.to_ascii_lowercase().windows(3).any(|w| w == b"inf");
    if float.into().is_infinite() && !names_infinity() {
        return Err(Error::custom(format_args!("{} is beyond the type asked for", Shown(bytes))));
    }
    Ok(float)
}

/// The text of a string, or where it stops being one.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(|error| not_utf8(&error))
}

/// The error for bytes that are no text.
pub(super) fn not_utf8(error: &Utf8Error) -> Error {
    Error::custom(format_args!("the bytes are not UTF-8 text: {error}"))
}

/// The beginning of a value, as an error shows it.
pub(super) struct Shown<'a>(pub(super) &'a [u8]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST: usize = 40;
        let start = self.0.get(..MOST).unwrap_or(self.0);
        let more = if start.len() < self.0.len() { "…" } else { "" };
        write!(f, "`{}{more}`", start.escape_ascii())
    }
}
