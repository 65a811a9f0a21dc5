//! A value as the server keeps it: bytes and the 32-bit flags beside them.

/// Bytes and flags of one stored value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// The value's bytes, as stored.
    pub bytes: Vec<u8>,
    /// The client flags beside them: a number the server keeps and does not look at.
    pub flags: u32,
}
