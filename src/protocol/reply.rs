//! What a server answered, free of any dialect.

use super::Verb;
use std::fmt;
use std::ops::Range;

/// The answer to one request, whole and matched to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A read of one key: the value, or `None` for a miss.
    Value(Option<Value>),
    /// A read of several keys; boxed, so that every other reply is as small as a value.
    Values(Box<Hits>),
    /// The value was stored.
    Stored,
    /// The condition of an add, replace, append or prepend was not met.
    NotStored,
    /// The value has changed since its cas token was read.
    Exists,
    /// There is no such key.
    NotFound,
    /// The value was removed.
    Deleted,
    /// The expiry time was set.
    Touched,
    /// A counter's new value.
    Number(u64),
    /// A command without a result was carried out.
    Done,
    /// The server's version.
    Version(String),
    /// Names and figures, in the server's order.
    Pairs(Vec<(String, String)>),
    /// Raw lines without their ends.
    Lines(Vec<Vec<u8>>),
    /// The server did not do it.
    Refused(Refusal),
}

/// What came of a read of several keys. A key that is neither a hit nor refused is a miss.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hits {
    /// The values found, in the order of their arrival.
    pub(crate) values: Vec<Value>,
    /// Places of keys that the server refused to look up, for those among them that are not in
    /// `values`. When it refused every key, the reply is [`Reply::Refused`] instead.
    pub(crate) refused: Vec<(Range<u32>, Refusal)>,
    /// What was not answered, when the exchange ended before the reply did.
    pub(crate) rest: Option<Rest>,
}

/// Where the answers to a read of several keys end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Of the keys from this place on only those among the values have an answer.
    pub(crate) from: u32,
    /// The place of the key whose value is larger than may be read, if that ended it: the others did no wrong.
    pub(crate) too_large: Option<u32>,
}

/// One value as it came from the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Value {
    /// The place of its key among the request's keys.
    pub(crate) index: u32,
    /// The client flags stored beside it.
    pub(crate) flags: u32,
    /// The token for a later cas, if the server gave one.
    pub(crate) cas: Option<u64>,
    /// The value's bytes.
    pub(crate) bytes: Vec<u8>,
}

/// A server's "no", which is a whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What sort of "no" it is.
    pub(crate) kind: RefusalKind,
    /// The server's own line, without control characters and cut at 200 characters.
    pub(crate) text: String,
}

/// What sort of "no" a server gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RefusalKind {
    /// A command that the server does not know.
    UnknownCommand,
    /// An error that is not of the usual forms; after it a server often hangs up.
    Unusual,
    /// The server has as many connections as it takes, and hangs up. It read no request.
    TooManyConnections,
    /// The request is wrong in the server's eyes.
    Client,
    /// An incr or decr of a value that is not a decimal number.
    NotANumber,
    /// The server failed to do it.
    Server,
    /// The value is larger than the server's largest item.
    TooLarge,
    /// The server has no memory for it.
    OutOfMemory,
    /// The server is at work on a request of the same kind.
    Busy,
}

impl Refusal {
    /// The most characters of a server's line that are kept.
    const MAX_TEXT: usize = 200;

    /// A refusal with a text that is fit for logs and messages.
    pub(super) fn new(kind: RefusalKind, line: &[u8]) -> Self {
        // A lossy character stands for at least one byte, so no more bytes than this are of use.
        let start = line.get(..4 * Self::MAX_TEXT).unwrap_or(line);
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        let text = String::from_utf8_lossy(start).chars().take(Self::MAX_TEXT).map(clean).collect();
        Self { kind, text }
    }

    /// Is nothing that follows on the connection to be believed?
    ///
    /// A server that refuses a store's command line reads its value as the next command, so that
    /// what follows may answer the value. An unusual error may be no answer at all.
    pub(super) fn ends_conversation(&self, verb: Verb) -> bool {
        use RefusalKind::{Client, NotANumber, TooManyConnections, UnknownCommand, Unusual};
        match self.kind {
            Unusual | TooManyConnections => true,
            UnknownCommand | Client | NotANumber => verb.is_store(),
            _ => false,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusals_text_is_short_and_printable() {
        let refusal = Refusal::new(RefusalKind::Server, b"SERVER_ERROR \x1b[31m\xff boom");
        assert_eq!(refusal.to_string(), "SERVER_ERROR  [31m\u{fffd} boom");
        let long = Refusal::new(RefusalKind::Server, &"ä".repeat(5000).into_bytes());
        assert_eq!(long.text, "ä".repeat(200));
    }
}
