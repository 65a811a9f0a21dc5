//! From a reply to a verb's result.

use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Reply, Value};

/// The value of a single-key read.
pub(super) fn value(reply: Reply) -> Result<Option<Value>> {
    match reply {
        Reply::Value(value) => Ok(value),
        other => Err(unexpected(other)),
    }
}

/// Whether a conditional store was carried out.
pub(super) fn stored(reply: Reply) -> Result<bool> {
    match reply {
        Reply::Stored => Ok(true),
        Reply::NotStored | Reply::NotFound => Ok(false),
        other => Err(unexpected(other)),
    }
}

/// Whether a delete or touch found its key.
pub(super) fn found(reply: Reply) -> Result<bool> {
    match reply {
        Reply::Deleted | Reply::Touched => Ok(true),
        Reply::NotFound => Ok(false),
        other => Err(unexpected(other)),
    }
}

/// A counter's new value, or `None` when there is no such key.
pub(super) fn number(reply: Reply) -> Result<Option<u64>> {
    match reply {
        Reply::Number(n) => Ok(Some(n)),
        Reply::NotFound => Ok(None),
        other => Err(unexpected(other)),
    }
}

/// The protocol lets no reply through that the verb cannot give, and the router none that is a refusal.
pub(super) fn unexpected(_: Reply) -> Error {
    Error::new(ErrorKind::Protocol, "the reply does not fit the request")
}

/// What a delete on a substitute leaves behind on the key's own server.
pub(super) fn substituted(home: &std::sync::Arc<str>, used: &str) -> Error {
    let why = format!("the server could not be asked and the delete reached {used} in its place");
    Error::new(ErrorKind::Substituted, why).with_server(home)
}
