//! Why a pool could not run an exchange.

use std::time::Duration;

use super::blame::Fall;
use crate::error::{Error, ErrorKind, Fate, Phase};
use crate::net::{NetError, Trouble};

/// A failed exchange, seen from above the pool.
#[derive(Debug)]
pub(crate) enum PoolError {
    /// The deadline passed while every connection was in use.
    Exhausted,
    /// The node is down, since it failed so; nothing was tried.
    Down(Option<Fall>),
    /// The client was closed.
    Closed,
    /// The pool belongs to the parent of this process; the client makes the child its own.
    Forked,
    /// Dialling or the exchange failed.
    Net(NetError),
}

impl PoolError {
    /// Nobody could connect in the time that connecting may take.
    pub(crate) fn unconnected() -> Self {
        let trouble = Trouble::TimedOut { silent: Duration::ZERO };
        Self::Net(NetError::unsent(Phase::Connect, trouble))
    }

    /// The deadline passed while another caller had the request with it.
    pub(crate) fn late() -> Self {
        let trouble = Trouble::TimedOut { silent: Duration::ZERO };
        Self::Net(NetError { phase: Phase::Read, trouble, sent: true })
    }

    /// What is known of the request.
    pub(crate) fn fate(&self) -> Fate {
        match self {
            Self::Net(e) if e.sent => Fate::Unknown,
            _ => Fate::NotApplied,
        }
    }
}

impl From<PoolError> for Error {
    fn from(e: PoolError) -> Self {
        match e {
            PoolError::Exhausted => {
                Self::new(ErrorKind::PoolExhausted, "every connection was in use")
                    .with_phase(Phase::Wait)
            }
            PoolError::Down(None) => Self::new(ErrorKind::ServerDown, "the server is down"),
            PoolError::Down(Some(Fall { why, ago })) => {
                let detail = format!("the server is down (last failure {ago:.1?} ago: {why})");
                Self::new(ErrorKind::ServerDown, detail)
            }
            PoolError::Closed => Self::new(ErrorKind::Closed, "the client was closed"),
            PoolError::Forked => {
                Self::new(ErrorKind::ServerDown, "the connections belong to the parent process")
            }
            PoolError::Net(e) => e.into(),
        }
    }
}
