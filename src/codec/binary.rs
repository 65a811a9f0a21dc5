//! Numbers as big-endian bytes, as Java's clients store them.

use serde::de::Error as _;
use serde_json::Error;

/// Appends the bytes and passes the flags on.
pub(super) fn push(flags: u32, bytes: &[u8], out: &mut Vec<u8>) -> Result<u32, Error> {
    out.extend_from_slice(bytes);
    Ok(flags)
}

/// The bytes, if they are as many as the type has.
pub(super) fn exactly<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Error> {
    bytes.try_into().map_err(|_| too_many(N, bytes.len()))
}

/// A number without the zero bytes before it.
pub(super) fn packed(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

/// A number with those bytes again; more bytes than it has are an error, where the clients cut them off.
pub(super) fn unpacked<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Error> {
    let mut whole = [0; N];
    let start = N.checked_sub(bytes.len()).ok_or_else(|| too_many(N, bytes.len()))?;
    whole.iter_mut().skip(start).zip(bytes).for_each(|(to, from)| *to = *from);
    Ok(whole)
}

fn too_many(wanted: usize, there: usize) -> Error {
    Error::custom(format_args!("these flags go with {wanted} bytes, there are {there}"))
}
