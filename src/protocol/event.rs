//! What one line of a reply says: the words between a dialect and the conversation.

use super::{Refusal, Reply};

/// One step of a reply, as a dialect's decoder reports it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'l> {
    /// A value of `len` bytes follows.
    Value { key: &'l [u8], flags: u32, len: u64, cas: Option<u64> },
    /// One named figure of a list.
    Pair { name: &'l [u8], figure: &'l [u8] },
    /// One raw line of a list.
    Line(&'l [u8]),
    /// The list, or the values of one line of keys, are complete.
    End,
    /// The whole reply.
    Whole(Reply),
    /// The server's "no" in place of what was to come.
    Refused(Refusal),
}
