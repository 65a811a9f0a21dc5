//! Who gets the next connection: idle ones, first-come lists of those who wait, and the permits as a count.
//!
//! This is the pool's state machine and nothing else. It knows no socket, no clock beyond a waiter's
//! deadlines and no r2d2; `C` is whatever a connection is. Its one lock is never held over I/O, a drop
//! of a connection, or code of the user.
//!
//! Callers want a connection either for themselves ([`Use::Alone`]) or [`Use::Shared`]: then they wait with
//! their request in hand (`R`), and whoever of them gets a connection takes the requests of the others along
//! and brings them their answers (`A`). No more than `share` connections are used that way at once, unless the
//! first in the list has lost [patience](Stop::Grow).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::crowd::Crowd;
use super::sync::{Guard, Mutex};
use super::ticket::{Denied, Grant, Ticket, Turn};
use crate::time::Deadline;

/// The connections of one node and those who wait for them.
#[derive(Debug)]
pub(crate) struct Line<C, R, A> {
    state: Mutex<State<C, R, A>>,
    max: usize,
    max_dials: usize,
    /// How many connections may be used for sharing.
    crowd: Crowd,
}

#[derive(Debug)]
struct State<C, R, A> {
    /// Last in, first out, so that the surplus stays idle long enough to be trimmed.
    idle: Vec<C>,
    /// Those who want a connection for themselves.
    alone: Waiters<C, R, A>,
    /// Those whose requests may travel together.
    sharing: Waiters<C, R, A>,
    arrivals: u64,
    /// Permits in use: idle, lent or being dialled.
    open: usize,
    dialing: usize,
    /// Lent or being dialled for sharing.
    shared: usize,
    closed: bool,
}

/// Waiters with the numbers of their arrival.
type Waiters<C, R, A> = VecDeque<(u64, Arc<Ticket<C, R, A>>)>;

/// How a connection is to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// For one caller's batch.
    Alone,
    /// For the requests of all who wait.
    Shared,
}

/// What a waiter looks at when it has waited so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// If it is the first of those who share, it takes one more connection for them than `share`, where there is one.
    Grow,
    /// If nobody has a connection it waits no longer: the node seems not to be there.
    Connect,
    /// It waits no longer.
    End,
}

/// Connections and waiters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) idle: usize,
    pub(crate) open: usize,
    pub(crate) dialing: usize,
    pub(crate) waiting: usize,
}

impl<C, R, A> Line<C, R, A> {
    /// A line of `max` permits, of which as many may be used for sharing as `crowd` says.
    pub(crate) fn new(max: usize, max_dials: usize, crowd: Crowd) -> Self {
        let state = State {
            idle: Vec::new(),
            alone: VecDeque::new(),
            sharing: VecDeque::new(),
            arrivals: 0,
            open: 0,
            dialing: 0,
            shared: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), max, max_dials, crowd }
    }

    /// A connection or the right to dial, if one is free and nobody waits for it.
    pub(crate) fn try_acquire(&self, how: Use) -> Option<Result<Grant<C>, Denied>> {
        self.try_locked(&mut self.state.lock(), how)
    }

    /// The same; else `ticket` joins those who wait, until [`Self::wait`] returns.
    pub(crate) fn join(
        &self,
        how: Use,
        ticket: &Arc<Ticket<C, R, A>>,
    ) -> Option<Result<Grant<C>, Denied>> {
        let mut state = self.state.lock();
        let outcome = self.try_locked(&mut state, how);
        if outcome.is_none() {
            let arrival = state.arrivals;
            state.arrivals += 1;
            state.waiters(how).push_back((arrival, ticket.clone()));
        }
        outcome
    }

    /// Waits for a ticket's turn, which comes in the order of arrival; the last of `stops` is the end of it.
    ///
    /// A request that was taken along by then is waited for until `late`.
    pub(crate) fn wait(
        &self,
        how: Use,
        ticket: &Arc<Ticket<C, R, A>>,
        stops: impl IntoIterator<Item = (Deadline, Stop)>,
        late: impl FnOnce() -> Deadline,
    ) -> Turn<C, A> {
        for (until, stop) in stops {
            if let Some(turn) = ticket.take_by(until) {
                return turn;
            }
            let mut state = self.state.lock();
            let at = state.waiters(how).iter().position(|(_, t)| Arc::ptr_eq(t, ticket));
            let Some(at) = at else {
                // Grants are given under the lock, so one is there by now; else the request was taken along.
                drop(state);
                if let Some(turn) = ticket.take_by(late()) {
                    return turn;
                }
                break;
            };
            let connected = state.open > state.dialing;
            let turn = match stop {
                Stop::Grow if at == 0 && how == Use::Shared => {
                    self.next(&mut state, how).map(Turn::from)
                }
                Stop::Connect if !connected => Some(Turn::Denied(Denied::Unconnected)),
                Stop::End if !connected => Some(Turn::Denied(Denied::Unconnected)),
                Stop::End => Some(Turn::Denied(Denied::Exhausted)),
                _ => None,
            };
            if let Some(turn) = turn {
                state.waiters(how).remove(at);
                return turn;
            }
        }
        ticket.abandon().unwrap_or(Turn::Denied(Denied::Late))
    }

    /// Waits no longer: takes the ticket out of the line. What has come for it meanwhile is for its holder to use or to pass on.
    pub(crate) fn leave(&self, how: Use, ticket: &Arc<Ticket<C, R, A>>) -> Option<Turn<C, A>> {
        // Turns are brought under the lock: after this, none comes.
        self.state.lock().waiters(how).retain(|(_, waiting)| !Arc::ptr_eq(waiting, ticket));
        ticket.take()
    }

    /// Takes those out who share, as long as `more` wants another: to the one who has a connection for them.
    pub(crate) fn take_along(
        &self,
        mut more: impl FnMut(&Ticket<C, R, A>) -> bool,
    ) -> Vec<Arc<Ticket<C, R, A>>> {
        let mut state = self.state.lock();
        let wanted = state.sharing.iter().take_while(|(_, ticket)| more(ticket)).count();
        state.sharing.drain(..wanted).map(|(_, ticket)| ticket).collect()
    }

    /// Ends a lent connection's use: hands it to the first who waits, or keeps it; gives it back when the pool is closed.
    #[must_use = "a connection that comes back is to be dropped and reported by `lost`"]
    pub(crate) fn give_back(&self, connection: C, how: Use) -> Option<C> {
        let mut state = self.state.lock();
        if state.closed {
            return Some(connection);
        }
        state.end(how);
        state.idle.push(connection);
        self.serve(state);
        None
    }

    /// Counts a lent connection as gone; its permit has to be back already.
    pub(crate) fn lost(&self, how: Use) {
        let mut state = self.state.lock();
        state.end(how);
        state.open = state.open.saturating_sub(1);
        self.serve(state);
    }

    /// Ends a dial that worked: the connection now counts as lent.
    pub(crate) fn dialed(&self) {
        let mut state = self.state.lock();
        state.dialing = state.dialing.saturating_sub(1);
        self.serve(state);
    }

    /// Ends a dial that failed; its permit has to be back already.
    pub(crate) fn dial_failed(&self, how: Use) {
        let mut state = self.state.lock();
        state.end(how);
        state.dialing = state.dialing.saturating_sub(1);
        state.open = state.open.saturating_sub(1);
        self.serve(state);
    }

    /// Takes the right to dial for the pool's own upkeep, while fewer than `below` are open.
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

    /// Turns everyone away at once who waits.
    pub(crate) fn turn_away(&self, why: Denied) {
        let mut state = self.state.lock();
        let woken = state.turn_away(why);
        drop(state);
        wake(woken);
    }

    /// Closes for good: waiters are turned away, idle connections are given out to be dropped.
    pub(crate) fn close(&self) -> Vec<C> {
        let mut state = self.state.lock();
        state.closed = true;
        let woken = state.turn_away(Denied::Closed);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        wake(woken);
        idle
    }

    /// Notes how long the exchange of several callers took.
    pub(crate) fn learn(&self, took: Duration) {
        self.crowd.learn(took);
    }

    pub(crate) fn counts(&self) -> Counts {
        let state = self.state.lock();
        Counts {
            idle: state.idle.len(),
            open: state.open,
            dialing: state.dialing,
            waiting: state.alone.len() + state.sharing.len(),
        }
    }

    /// What can be had now; newcomers do not overtake those who wait for the same.
    fn try_locked(&self, state: &mut State<C, R, A>, how: Use) -> Option<Result<Grant<C>, Denied>> {
        if state.closed {
            return Some(Err(Denied::Closed));
        }
        if how == Use::Shared {
            self.crowd.met(state.shared + state.sharing.len() + 1);
        }
        let free = state.waiters(how).is_empty() && self.may_use(state, how);
        if free { self.next(state, how).map(Ok) } else { None }
    }

    /// Whether there may be one more use of this sort.
    fn may_use(&self, state: &State<C, R, A>, how: Use) -> bool {
        how == Use::Alone || state.shared < self.crowd.connections()
    }

    /// The connection that is free, or the right to dial one.
    fn next(&self, state: &mut State<C, R, A>, how: Use) -> Option<Grant<C>> {
        let grant = match state.idle.pop() {
            Some(connection) => Grant::Connection(connection),
            None if state.open < self.max && state.dialing < self.max_dials => {
                state.open += 1;
                state.dialing += 1;
                Grant::Dial
            }
            None => return None,
        };
        if how == Use::Shared {
            state.shared += 1;
            self.crowd.departed();
        }
        Some(grant)
    }

    /// Gives what is free to those who came first: after every event that may have freed something.
    fn serve(&self, mut state: Guard<'_, State<C, R, A>>) {
        let mut woken = Vec::new();
        while let Some(how) = self.first(&state) {
            let Some(grant) = self.next(&mut state, how) else { break };
            let Some((_, ticket)) = state.waiters(how).pop_front() else { break };
            // One that waits in the list is not abandoned.
            let _ = ticket.fill(Turn::from(grant));
            woken.push(ticket);
        }
        drop(state);
        wake(woken);
    }

    /// Whose turn it is among those who may have something.
    fn first(&self, state: &State<C, R, A>) -> Option<Use> {
        let alone = state.alone.front().map(|(arrival, _)| *arrival);
        let sharing = state.sharing.front().map(|(arrival, _)| *arrival);
        match (alone, sharing.filter(|_| self.may_use(state, Use::Shared))) {
            (Some(alone), Some(sharing)) if sharing < alone => Some(Use::Shared),
            (Some(_), _) => Some(Use::Alone),
            (None, sharing) => sharing.map(|_| Use::Shared),
        }
    }
}

impl<C, R, A> State<C, R, A> {
    fn waiters(&mut self, how: Use) -> &mut Waiters<C, R, A> {
        match how {
            Use::Alone => &mut self.alone,
            Use::Shared => &mut self.sharing,
        }
    }

    fn end(&mut self, how: Use) {
        self.shared = self.shared.saturating_sub(usize::from(how == Use::Shared));
    }

    fn turn_away(&mut self, why: Denied) -> Vec<Arc<Ticket<C, R, A>>> {
        let all = self.alone.drain(..).chain(self.sharing.drain(..));
        all.map(|(_, ticket)| {
            let _ = ticket.fill(Turn::Denied(why));
            ticket
        })
        .collect()
    }
}

/// Wakes those whose turn has come; outside the lock, since it is a system call for each that sleeps.
fn wake<C, R, A>(tickets: Vec<Arc<Ticket<C, R, A>>>) {
    tickets.iter().for_each(|ticket| ticket.wake());
}

#[cfg(test)]
mod callers;
#[cfg(all(test, mcpool_loom))]
mod model;
#[cfg(test)]
mod tests;
