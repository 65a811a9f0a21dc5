//! How a peer broke the protocol.

use super::Verb;
use std::fmt;

/// A rule that the peer broke. The connection must be closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A line is longer than is read.
    LineTooLong { limit: usize },
    /// A line that the request cannot be answered with.
    UnexpectedReply { verb: Verb, line: String },
    /// The peer speaks TLS.
    TlsAlert { verb: Verb },
    /// A value of a key that was not asked for, or had been answered.
    WrongKey { verb: Verb, line: String },
    /// A number is missing, is none or is too large.
    BadNumber { verb: Verb, line: String },
    /// A value is longer than is read.
    ValueTooLarge { declared: u64, limit: usize },
    /// Something else than a line's end follows a value of the declared length.
    NoTerminator { declared: usize, found: String },
    /// A list takes more memory than is given to it.
    ListTooLong { verb: Verb, limit: usize },
    /// A reply came before its request was sent.
    Premature { verb: Verb, line: String },
    /// More came than was asked for.
    Surplus { found: String },
}

/// The first bytes of what a peer sent, in printable form.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const MAX: usize = 60;
    match bytes.get(..MAX) {
        Some(start) if bytes.len() > MAX => format!("{}…", start.escape_ascii()),
        _ => bytes.escape_ascii().to_string(),
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LineTooLong { limit } => {
                write!(f, "the server sent a line longer than {limit} bytes")
            }
            Self::UnexpectedReply { verb, line } => {
                write!(f, "the server answered {verb} with `{line}`")
            }
            Self::TlsAlert { verb } => {
                write!(f, "the server answered {verb} with a TLS alert; TLS is not spoken here")
            }
            Self::WrongKey { verb, line } => {
                write!(
                    f,
                    "the server answered {verb} with a key that was not asked for, or twice: `{line}`"
                )
            }
            Self::BadNumber { verb, line } => {
                write!(f, "the server answered {verb} with a wrong or missing number: `{line}`")
            }
            Self::ValueTooLarge { declared, limit } => write!(
                f,
                "the server announced a value of {declared} bytes, at most {limit} are read"
            ),
            Self::NoTerminator { declared, found } => write!(
                f,
                "the server sent a value that does not end after its {declared} bytes but goes on with `{found}`"
            ),
            Self::ListTooLong { verb, limit } => {
                write!(f, "the server's answer to {verb} takes more than {limit} bytes of memory")
            }
            Self::Premature { verb, line } => {
                write!(f, "the server answered {verb} before it was sent: `{line}`")
            }
            Self::Surplus { found } => {
                write!(f, "the server sent more than was asked for: `{found}`")
            }
        }
    }
}

impl std::error::Error for Violation {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_shows_a_short_printable_piece_of_what_came() {
        assert_eq!(excerpt(b"WAT\r\n\x00\xff"), r"WAT\r\n\x00\xff");
        assert_eq!(excerpt(&[b'a'; 60]), "a".repeat(60));
        assert_eq!(excerpt(&[b'a'; 61]), "a".repeat(60) + "…");
    }
}
