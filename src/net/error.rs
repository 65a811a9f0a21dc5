//! What can go wrong between us and a peer, and how much of the request had left by then.

use std::io;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Fate, Phase};
use crate::protocol::Violation;

/// A failed dial or exchange.
#[derive(Debug)]
pub(crate) struct NetError {
    pub(crate) phase: Phase,
    pub(crate) trouble: Trouble,
    /// Whether the kernel took the last byte of the request.
    pub(crate) sent: bool,
}

/// The trouble itself.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The deadline passed; the peer had been silent for this long.
    TimedOut { silent: Duration },
    /// The caller's deadline passed while connecting, too soon to say anything of the peer.
    Hurried,
    /// The peer closed the connection.
    Eof,
    /// The system reported an error.
    Io(io::Error),
    /// The peer broke the protocol.
    Violation(Violation),
    /// The peer answered an earlier request of the batch in a way that leaves this one in doubt.
    Doubt,
}

impl NetError {
    pub(crate) fn unsent(phase: Phase, trouble: Trouble) -> Self {
        Self { phase, trouble, sent: false }
    }

    /// The same for another request of the exchange.
    pub(crate) fn again(&self, sent: bool) -> Self {
        let trouble = match &self.trouble {
            Trouble::TimedOut { silent } => Trouble::TimedOut { silent: *silent },
            Trouble::Hurried => Trouble::Hurried,
            Trouble::Eof => Trouble::Eof,
            Trouble::Io(e) => Trouble::Io(match e.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(e.kind(), e.to_string()),
            }),
            Trouble::Violation(violation) => Trouble::Violation(violation.clone()),
            Trouble::Doubt => Trouble::Doubt,
        };
        Self { phase: self.phase, trouble, sent }
    }

    /// Takes back what a time-out says of the peer: the time was too short for it.
    pub(crate) fn hurried(&mut self) {
        if self.is_time_out() {
            self.trouble = Trouble::Hurried;
        }
    }

    /// Whether the deadline ended it.
    pub(crate) fn is_time_out(&self) -> bool {
        matches!(self.trouble, Trouble::TimedOut { .. } | Trouble::Hurried)
    }

    /// Whether the connection was lost, rather than the peer silent or wrong.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.trouble, Trouble::Eof | Trouble::Io(_))
    }

    /// Whether it speaks of one value, and of no other request of the exchange.
    pub(crate) fn is_of_one_value(&self) -> bool {
        matches!(self.trouble, Trouble::Violation(Violation::ValueTooLarge { .. }))
    }

    /// Whether no connection came about.
    pub(crate) fn is_dial(&self) -> bool {
        matches!(self.phase, Phase::Resolve | Phase::Connect)
    }

    /// Whether no connection came about since this process ran out of something.
    pub(crate) fn is_own_shortage(&self) -> bool {
        use rustix::io::Errno;
        let own =
            [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM].map(Errno::raw_os_error);
        match &self.trouble {
            Trouble::Io(e) if self.is_dial() => e.raw_os_error().is_some_and(|e| own.contains(&e)),
            _ => false,
        }
    }
}

impl From<NetError> for Error {
    fn from(e: NetError) -> Self {
        let (dial, shortage) = (e.is_dial(), e.is_own_shortage());
        let error = match e.trouble {
            Trouble::TimedOut { .. } if dial => {
                Self::new(ErrorKind::ServerDown, "no answer in time")
            }
            Trouble::TimedOut { .. } | Trouble::Hurried => {
                Self::new(ErrorKind::Timeout, "the deadline passed")
            }
            Trouble::Eof => {
                Self::new(ErrorKind::ConnectionLost, "the server closed the connection")
            }
            Trouble::Io(source) => {
                let kind = match dial {
                    true if shortage => ErrorKind::OutOfResources,
                    true => ErrorKind::ServerDown,
                    false => ErrorKind::ConnectionLost,
                };
                Self::new(kind, source.to_string()).with_source(source)
            }
            Trouble::Violation(violation) => violation.into(),
            Trouble::Doubt => Self::new(
                ErrorKind::Protocol,
                "an earlier reply on the connection left this one in doubt",
            ),
        };
        error.with_phase(e.phase).with_fate(if e.sent { Fate::Unknown } else { Fate::NotApplied })
    }
}
