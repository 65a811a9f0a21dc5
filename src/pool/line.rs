//! Who gets the next connection: idle ones, a first-come list of waiters, and the permits as a count.
//!
//! This is the pool's state machine and nothing else. It knows no socket, no clock beyond a waiter's
//! deadline and no r2d2; `C` is whatever a connection is. Its one lock is never held over I/O, a drop
//! of a connection, or code of the user.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

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

/// A waiter's slot; filled once, by whoever serves it.
#[derive(Debug)]
struct Ticket<C> {
    slot: Mutex<Option<Result<Grant<C>, Denied>>>,
    filled: Condvar,
}

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
    pub(crate) fn acquire(&self, deadline: Deadline) -> Result<Grant<C>, Denied> {
        let ticket = {
            let mut state = self.state.lock();
            if let Some(outcome) = self.try_locked(&mut state) {
                return outcome;
            }
            let ticket = Arc::new(Ticket { slot: Mutex::new(None), filled: Condvar::new() });
            state.waiting.push_back(ticket.clone());
            ticket
        };
        if let Some(outcome) = ticket.wait(deadline) {
            return outcome;
        }
        let mut state = self.state.lock();
        if let Some(at) = state.waiting.iter().position(|t| Arc::ptr_eq(t, &ticket)) {
            state.waiting.remove(at);
            return Err(Denied::Exhausted);
        }
        drop(state);
        // It was served between the time-out and the lock: a grant must not be lost.
        ticket.slot.lock().take().unwrap_or(Err(Denied::Exhausted))
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

impl<C> Ticket<C> {
    fn fill(&self, outcome: Result<Grant<C>, Denied>) {
        *self.slot.lock() = Some(outcome);
        self.filled.notify_one();
    }

    fn wait(&self, deadline: Deadline) -> Option<Result<Grant<C>, Denied>> {
        let mut slot = self.slot.lock();
        while slot.is_none() {
            if self.filled.wait_until(&mut slot, deadline.instant()).timed_out() {
                break;
            }
        }
        slot.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn by(ms: u64) -> Deadline {
        Deadline::after(Instant::now(), Duration::from_millis(ms))
    }

    /// Waits for the state that a thread is about to reach, with a ceiling instead of a sleep.
    fn until(line: &Line<u32>, reached: impl Fn(Counts) -> bool) {
        let ceiling = by(20_000);
        while !reached(line.counts()) {
            assert!(!ceiling.passed(Instant::now()), "{:?}", line.counts());
            std::thread::yield_now();
        }
    }

    #[test]
    fn callers_dial_up_to_the_cap_and_the_next_one_is_exhausted() {
        let line = Line::<u32>::new(2, 2);
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        line.dialed();
        line.dialed();
        assert_eq!(line.acquire(by(5)), Err(Denied::Exhausted));
        assert_eq!(line.counts(), Counts { open: 2, ..Counts::default() });
    }

    #[test]
    fn the_last_connection_given_back_is_the_first_taken() {
        let line = Line::new(4, 4);
        for _ in 0..2 {
            assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
            line.dialed();
        }
        assert_eq!(line.give_back(1), None);
        assert_eq!(line.give_back(2), None);
        assert_eq!(line.try_acquire(), Some(Ok(Grant::Connection(2))));
        assert_eq!(line.take_idle(|_, _| true), vec![1]);
    }

    #[test]
    fn waiters_are_served_in_the_order_they_came() {
        let line = Line::new(1, 1);
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        line.dialed();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|s| {
            for i in 0..4 {
                let (line, order) = (&line, &order);
                s.spawn(move || {
                    let grant = line.acquire(by(20_000));
                    order.lock().push(i);
                    assert_eq!(grant, Ok(Grant::Connection(7)));
                    assert_eq!(line.give_back(7), None);
                });
                until(line, |c| c.waiting == i + 1);
            }
            assert_eq!(line.give_back(7), None);
        });
        assert_eq!(*order.lock(), vec![0, 1, 2, 3]);
    }

    #[test]
    fn a_waiter_dials_when_a_holder_loses_its_connection() {
        let line = Line::<u32>::new(1, 1);
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        line.dialed();
        std::thread::scope(|s| {
            let waiter = s.spawn(|| line.acquire(by(20_000)));
            until(&line, |c| c.waiting == 1);
            line.lost();
            assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Dial));
        });
        line.dial_failed();
        assert_eq!(line.counts(), Counts::default());
    }

    #[test]
    fn no_more_than_max_dials_connect_at_once_and_each_end_lets_the_next_go() {
        let line = Line::<u32>::new(8, 2);
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        std::thread::scope(|s| {
            let waiter = s.spawn(|| line.acquire(by(20_000)));
            until(&line, |c| c.waiting == 1);
            assert_eq!(line.counts().dialing, 2);
            line.dial_failed();
            assert_eq!(waiter.join().expect("no panic"), Ok(Grant::Dial));
        });
        assert_eq!(line.counts(), Counts { open: 2, dialing: 2, ..Counts::default() });
    }

    #[test]
    fn a_node_that_goes_down_turns_every_waiter_away_at_once() {
        let line = Line::<u32>::new(1, 1);
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        std::thread::scope(|s| {
            let waiters: Vec<_> = (0..3).map(|_| s.spawn(|| line.acquire(by(20_000)))).collect();
            until(&line, |c| c.waiting == 3);
            line.turn_away(Denied::Down);
            for waiter in waiters {
                assert_eq!(waiter.join().expect("no panic"), Err(Denied::Down));
            }
        });
    }

    #[test]
    fn close_turns_waiters_away_and_lets_no_connection_back_in() {
        let line = Line::new(1, 1);
        assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
        line.dialed();
        std::thread::scope(|s| {
            let waiter = s.spawn(|| line.acquire(by(20_000)));
            until(&line, |c| c.waiting == 1);
            assert!(line.close().is_empty());
            assert_eq!(waiter.join().expect("no panic"), Err(Denied::Closed));
        });
        assert_eq!(line.give_back(9), Some(9));
        assert_eq!(line.acquire(by(0)), Err(Denied::Closed));
    }

    #[test]
    fn trimming_sees_how_many_would_stay() {
        let line = Line::new(4, 4);
        for i in 0..4_u32 {
            assert_eq!(line.acquire(by(0)), Ok(Grant::Dial));
            line.dialed();
            // All are lent until the end of the loop.
            if i == 3 {
                (0..4).for_each(|c| assert_eq!(line.give_back(c), None));
            }
        }
        assert_eq!(line.take_idle(|_, stay| stay >= 2), vec![0, 1]);
        (0..2).for_each(|_| line.lost());
        assert_eq!(line.counts(), Counts { idle: 2, open: 2, ..Counts::default() });
    }
}
