//! What Dalli serializes: `nil`, `true` and `false` of Ruby's `Marshal`, or JSON.

use crate::codec::error::{Format, Unreadable};
use crate::codec::stored::Stored;

/// `nil`, `true` and `false`.
pub(in crate::codec) const NIL: &[u8] = b"\x04\x080";
pub(in crate::codec) const TRUE: &[u8] = b"\x04\x08T";
pub(in crate::codec) const FALSE: &[u8] = b"\x04\x08F";

/// The version that every dump of `Marshal` begins with; no JSON does.
const VERSION: &[u8] = b"\x04\x08";

/// Reads what stands under the mark of a serialized value.
pub(in crate::codec) fn read(bytes: &[u8]) -> Result<Stored<'_>, Unreadable> {
    match bytes {
        NIL => Ok(Stored::None),
        TRUE => Ok(Stored::Bool(true)),
        FALSE => Ok(Stored::Bool(false)),
        _ if bytes.starts_with(VERSION) => Err(Unreadable::Foreign(Format::Marshal)),
        _ => Ok(Stored::Json(bytes)),
    }
}
