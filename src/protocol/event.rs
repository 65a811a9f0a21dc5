//! What one line of a reply says: the words between a dialect and the conversation.

use super::{Refusal, Reply};

/// What stands before a value, whose bytes follow.
#[derive(Debug)]
pub(super) struct Head<'l> {
    pub(super) key: &'l [u8],
    pub(super) flags: u32,
    /// How many bytes the value has.
    pub(super) len: u64,
    pub(super) cas: Option<u64>,
    /// All of it, without its end.
    pub(super) line: &'l [u8],
}

/// Any other step of a reply, as a dialect's decoder reports it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'l> {
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
