//! What an error says: what was tried, where, for how long, what came of it, and what to do now.

use std::fmt;

use super::{Error, ErrorKind, Fate, Phase};

/// Keys longer than this are cut in messages.
const SHOWN_KEY: usize = 80;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(call) = inner.call {
            write!(f, "{call} ")?;
            if let Some(key) = &inner.key {
                write!(f, "{} ", Shown(key))?;
            }
            if let Some(server) = &inner.server {
                write!(f, "on {server} ")?;
            }
            f.write_str("failed")?;
            if let Some(phase) = inner.phase {
                write!(f, " while {phase}")?;
            }
            if let Some(elapsed) = inner.elapsed {
                write!(f, " after {elapsed:.1?}")?;
            }
            f.write_str(": ")?;
        } else if let Some(server) = &inner.server {
            write!(f, "{server}: ")?;
        }
        f.write_str(&inner.detail)?;
        if inner.fate == Fate::Unknown {
            f.write_str("; it may have been applied")?;
        }
        match inner.kind.advice(inner.phase) {
            "" => Ok(()),
            advice => write!(f, "; {advice}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl ErrorKind {
    /// What a reader of the message can do about it.
    fn advice(self, phase: Option<Phase>) -> &'static str {
        match self {
            Self::Timeout if phase == Some(Phase::Prepare) => {
                "give it less to do in one call, or raise `timeout`"
            }
            Self::Timeout => "look at the server's load and network, or raise `timeout`",
            Self::PoolExhausted => {
                "raise `max_connections` or `timeout`, or call from fewer threads"
            }
            Self::OutOfResources => "look for leaks in this process, or raise its limits",
            Self::ServerDown => {
                "check that memcached runs there; the server is probed again by itself"
            }
            Self::ConnectionLost => "the connection was closed and the next call opens another",
            Self::Protocol => "check that the address is a memcached's; the connection was closed",
            Self::ValueTooLarge => {
                "store less, or raise the limit: `max_value_bytes` here, `-I` at the server"
            }
            Self::Refused => "look at the server's settings, memory and version",
            Self::Closed => "build another one",
            Self::NotANumber => "store counters with `set_counter` or as decimal text",
            Self::Substituted => "delete again once its own server is back",
            _ => "",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prepare => "preparing the request",
            Self::Wait => "waiting for a connection",
            Self::Resolve => "resolving the name",
            Self::Connect => "connecting",
            Self::Write => "sending the request",
            Self::Read => "reading the reply",
            Self::Decode => "decoding the value",
        })
    }
}

/// A key for people: lossy, quoted, cut at a length.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(self.0.get(..SHOWN_KEY).unwrap_or(self.0));
        let more = if self.0.len() > SHOWN_KEY { "…" } else { "" };
        write!(f, "\"{}{more}\"", text.escape_debug())
    }
}
