//! Who gets the next connection: idle ones, a first-come list of waiters, and the permits as a count.
//!
//! This is the pool's state machine and nothing else. It knows no socket, no clock beyond a waiter's
//! deadline and no r2d2; `C` is whatever a connection is. Its one lock is never held over I/O, a drop
//! of a connection, or code of the user.

use std::collections::VecDeque;
use std::sync::Arc;

use super::sync::{Mutex, Slot};
use crate::time::Deadline;

/// The connections of one node and those who wait for them.
#[derive(Debug)]
pub(crate) struct Line<C> {
    state: Mutex<State<C>>,
    max: usize,
    max_dials: usize,
}

#[derive(Debug)]
struct State<C> {
    /// Last in, first out, so that the surplus stays idle long enough to be trimmed.
    idle: Vec<C>,
    waiting: VecDeque<Arc<Ticket<C>>>,
    /// Permits in use: idle, lent or being dialled.
    open: usize,
    dialing: usize,
    closed: bool,
}

/// What a caller may go on with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Grant<C> {
    /// A connection that was idle or handed over.
    Connection(C),
    /// The right to open one; it ends with [`Line::dialed`] or [`Line::dial_failed`].
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
}

/// Connections and waiters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) idle: usize,
    pub(crate) open: usize,
    pub(crate) dialing: usize,
    pub(crate) waiting: usize,
}

/// A waiter's place; filled once, by whoever serves it.
type Ticket<C> = Slot<Result<Grant<C>, Denied>>;

impl<C> Line<C> {
    pub(crate) fn new(max: usize, max_dials: usize) -> Self {
        let state = State {
            idle: Vec::new(),
            waiting: VecDeque::new(),
            open: 0,
            dialing: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), max, max_dials }
    }

    /// A connection or the right to dial, if one is free and nobody waits for it.
    pub(crate) fn try_acquire(&self) -> Option<Result<Grant<C>, Denied>> {
        self.try_locked(&mut self.state.lock())
    }

    /// A connection or the right to dial, in the order of arrival, by `deadline` at the latest.
    ///
    /// When at `connect` nobody has a connection, it waits no longer: the node seems not to be there.
    pub(crate) fn acquire(
        &self,
        connect: Deadline,
        deadline: Deadline,
    ) -> Result<Grant<C>, Denied> {
        let ticket = {
            let mut state = self.state.lock();
            if let Some(outcome) = self.try_locked(&mut state) {
                return outcome;
            }
            let ticket = Arc::new(Ticket::new());
            state.waiting.push_back(ticket.clone());
            ticket
        };
        for until in [connect.min(deadline), deadline] {
            if let Some(outcome) = ticket.take_by(until) {
                return outcome;
            }
            let mut state = self.state.lock();
            let Some(at) = state.waiting.iter().position(|t| Arc::ptr_eq(t, &ticket)) else {
                break;
            };
            let connected = state.open > state.dialing;
            if !connected || until == deadline {
                state.waiting.remove(at);
                return Err(if connected { Denied::Exhausted } else { Denied::Unconnected });
            }
        }
        // It was served between the time-out and the lock: a grant must not be lost.
        ticket.take().unwrap_or(Err(Denied::Exhausted))
    }

    /// Hands a lent connection to the first waiter, or keeps it; gives it back when the pool is closed.
    #[must_use = "a connection that comes back is to be dropped and reported by `lost`"]
    pub(crate) fn give_back(&self, connection: C) -> Option<C> {
        let mut state = self.state.lock();
        if state.closed {
            return Some(connection);
        }
        match state.waiting.pop_front() {
            Some(ticket) => {
                ticket.fill(Ok(Grant::Connection(connection)));
            }
            None => state.idle.push(connection),
        }
        None
    }

    /// Counts a lent connection as gone; its permit has to be back already.
    pub(crate) fn lost(&self) {
        let mut state = self.state.lock();
        state.open = state.open.saturating_sub(1);
        self.let_dial(&mut state);
    }

    /// Ends a dial that worked: the connection now counts as lent.
    pub(crate) fn dialed(&self) {
        let mut state = self.state.lock();
        state.dialing = state.dialing.saturating_sub(1);
        self.let_dial(&mut state);
    }

    /// Ends a dial that failed; its permit has to be back already.
    pub(crate) fn dial_failed(&self) {
        let mut state = self.state.lock();
        state.dialing = state.dialing.saturating_sub(1);
        state.open = state.open.saturating_sub(1);
        self.let_dial(&mut state);
    }

    /// Takes the right to dial for the pool's own upkeep, while fewer than `below` are open and nobody waits.
    pub(crate) fn dial_below(&self, below: usize) -> bool {
        let mut state = self.state.lock();
        let may =
            !state.closed && state.open < below.min(self.max) && state.dialing < self.max_dials;
        if may {
            state.open += 1;
            state.dialing += 1;
        }
        may
    }

    /// Takes idle connections out, the longest idle first; each is to be dropped and reported by [`Line::lost`].
    ///
    /// `unwanted` sees the connection and how many would stay open without it.
    pub(crate) fn take_idle(&self, mut unwanted: impl FnMut(&C, usize) -> bool) -> Vec<C> {
        let mut state = self.state.lock();
        let mut open = state.open;
        let (gone, kept) = std::mem::take(&mut state.idle).into_iter().partition(|c| {
            let gone = unwanted(c, open.saturating_sub(1));
            open -= usize::from(gone);
            gone
        });
        state.idle = kept;
        gone
    }

    /// Turns every waiter away at once.
    pub(crate) fn turn_away(&self, why: Denied) {
        self.state.lock().turn_away(why);
    }

    /// Closes for good: waiters are turned away, idle connections are given out to be dropped.
    pub(crate) fn close(&self) -> Vec<C> {
        let mut state = self.state.lock();
        state.closed = true;
        state.turn_away(Denied::Closed);
        std::mem::take(&mut state.idle)
    }

    pub(crate) fn counts(&self) -> Counts {
        let state = self.state.lock();
        Counts {
            idle: state.idle.len(),
            open: state.open,
            dialing: state.dialing,
            waiting: state.waiting.len(),
        }
    }

    /// What can be had now; newcomers do not overtake those who wait.
    fn try_locked(&self, state: &mut State<C>) -> Option<Result<Grant<C>, Denied>> {
        if state.closed {
            return Some(Err(Denied::Closed));
        }
        if !state.waiting.is_empty() {
            return None;
        }
        if let Some(connection) = state.idle.pop() {
            return Some(Ok(Grant::Connection(connection)));
        }
        self.may_dial(state).then(|| {
            state.open += 1;
            state.dialing += 1;
            Ok(Grant::Dial)
        })
    }

    fn may_dial(&self, state: &State<C>) -> bool {
        state.open < self.max && state.dialing < self.max_dials
    }

    /// Lets the first waiters dial, as many as may: after every event that frees a permit or a dial.
    fn let_dial(&self, state: &mut State<C>) {
        while self.may_dial(state) {
            let Some(ticket) = state.waiting.pop_front() else { return };
            state.open += 1;
            state.dialing += 1;
            ticket.fill(Ok(Grant::Dial));
        }
    }
}

impl<C> State<C> {
    fn turn_away(&mut self, why: Denied) {
        for ticket in self.waiting.drain(..) {
            ticket.fill(Err(why));
        }
    }
}

#[cfg(all(test, mcpool_loom))]
mod model;
#[cfg(test)]
mod tests;
