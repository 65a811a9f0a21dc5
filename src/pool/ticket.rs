//! A place in the line: what may be brought to it, and what its holder has in hand.

use super::sync::{Mutex, Slot};
use crate::time::Deadline;

/// A waiter's place; its turn comes once.
#[derive(Debug)]
pub(crate) struct Ticket<C, R, A> {
    slot: Slot<Turn<C, A>>,
    /// The request that may travel with others; whoever looks at it does so for a moment.
    request: Mutex<R>,
}

/// What a caller may go on with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Grant<C> {
    /// A connection that was idle or handed over.
    Connection(C),
    /// The right to open one; it ends with [`Line::dialed`](super::line::Line::dialed) or [`Line::dial_failed`](super::line::Line::dial_failed).
    Dial,
}

/// Why a caller got nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// The deadline passed while every permit was in use.
    Exhausted,
    /// The time to connect passed while others tried to, and nobody had a connection.
    Unconnected,
    /// The node went down.
    Down,
    /// The pool was closed.
    Closed,
    /// The deadline passed while another caller had this one's request with it.
    Late,
}

/// What comes to a waiter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn<C, A> {
    /// See [`Grant`].
    Connection(C),
    Dial,
    Denied(Denied),
    /// What became of its request, which another caller took along.
    Answer(A),
}

impl<C, R, A> Ticket<C, R, A> {
    pub(crate) fn new(request: R) -> Self {
        Self { slot: Slot::new(), request: Mutex::new(request) }
    }

    /// Looks at the request.
    pub(crate) fn with_request<T>(&self, look: impl FnOnce(&mut R) -> T) -> T {
        look(&mut self.request.lock())
    }

    /// Brings the turn; it comes back when nobody waits for it any more.
    pub(super) fn fill(&self, turn: Turn<C, A>) -> Option<Turn<C, A>> {
        self.slot.fill(turn)
    }

    /// Ends the holder's sleep, if it sleeps.
    pub(super) fn wake(&self) {
        self.slot.wake();
    }

    /// Brings an answer and wakes the holder; it comes back when nobody waits for it any more.
    pub(crate) fn answer(&self, answer: A) -> Option<A> {
        match self.fill(Turn::Answer(answer)) {
            Some(Turn::Answer(answer)) => Some(answer),
            _ => {
                self.wake();
                None
            }
        }
    }

    /// The turn, if it has come.
    pub(crate) fn take(&self) -> Option<Turn<C, A>> {
        self.slot.take()
    }

    pub(super) fn take_by(&self, until: Deadline) -> Option<Turn<C, A>> {
        self.slot.take_by(until)
    }

    /// Waits no more: what comes from now on comes back to who brings it.
    pub(super) fn abandon(&self) -> Option<Turn<C, A>> {
        self.slot.abandon()
    }
}

impl<C, A> Turn<C, A> {
    /// What it is to one who waits without a request.
    pub(super) fn into_grant(self) -> Result<Grant<C>, Denied> {
        match self {
            Self::Connection(connection) => Ok(Grant::Connection(connection)),
            Self::Dial => Ok(Grant::Dial),
            Self::Denied(denied) => Err(denied),
            // There is none that anyone could take along.
            Self::Answer(_) => Err(Denied::Exhausted),
        }
    }
}

impl<C, A> From<Grant<C>> for Turn<C, A> {
    fn from(grant: Grant<C>) -> Self {
        match grant {
            Grant::Connection(connection) => Self::Connection(connection),
            Grant::Dial => Self::Dial,
        }
    }
}
