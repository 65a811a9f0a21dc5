//! A connection on its way to a caller who does other things meanwhile: in line for one, or connecting.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Instant;

use super::error::PoolError;
use super::lease::{Connecting, Lease, Live};
use super::line::Use;
use super::node::NodePool;
use super::shared::{Arrival, Rider};
use super::ticket::{Denied, Grant, Ticket, Turn};
use crate::time::{Attempt, Deadline};

/// A connection of one's own that is awaited; dropped, what has come of it goes to the next in line.
#[derive(Debug)]
pub(super) struct Boarding<'p> {
    pool: &'p NodePool,
    attempt: Attempt,
    stage: Stage<'p>,
}

#[derive(Debug)]
enum Stage<'p> {
    /// Nothing was tried yet.
    Ashore,
    Waiting(Place<'p>),
    Connecting(Box<Connecting<'p>>),
}

/// A place in the line of a node's callers.
#[derive(Debug)]
struct Place<'p> {
    pool: &'p NodePool,
    ticket: Arc<Ticket<Live, Rider, Arrival>>,
    /// What has come while it was waited for.
    come: Option<Turn<Live, Arrival>>,
    /// Until when others may try to connect while nobody is connected.
    connect: Deadline,
    end: Deadline,
}

impl NodePool {
    /// A connection of one's own, without waiting for it.
    pub(super) fn board(&self, attempt: Attempt) -> Boarding<'_> {
        Boarding { pool: self, attempt, stage: Stage::Ashore }
    }
}

impl<'p> Boarding<'p> {
    /// Does what can be done without waiting for others or for the network; the end of it comes once.
    pub(super) fn look(&mut self) -> Option<Result<Lease<'p>, PoolError>> {
        loop {
            let now = Instant::now();
            let turn = match &mut self.stage {
                Stage::Ashore => {
                    let pool = self.pool;
                    match pool.line.try_acquire(Use::Alone) {
                        Some(outcome) => outcome,
                        None => match Place::join(pool, self.attempt, now) {
                            Ok(place) => {
                                self.stage = Stage::Waiting(place);
                                return None;
                            }
                            Err(outcome) => outcome,
                        },
                    }
                }
                Stage::Waiting(place) => place.look(now)?,
                Stage::Connecting(connecting) => return connecting.advance(),
            };
            self.stage = Stage::Ashore;
            let steps = self.attempt.starting(now);
            match turn {
                Ok(Grant::Dial) => match self.pool.connect(steps, Use::Alone) {
                    Ok(connecting) => self.stage = Stage::Connecting(Box::new(connecting)),
                    Err(e) => return Some(Err(e)),
                },
                turn => match self.pool.take_up(turn, Use::Alone, steps, now) {
                    Ok(Some(lease)) => return Some(Ok(lease)),
                    // It was unfit.
                    Ok(None) => {}
                    Err(e) => return Some(Err(e)),
                },
            }
        }
    }

    /// What to poll for room to send; `None` where only another look shows whether something has changed.
    pub(super) fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Connecting(connecting) => connecting.dialing.socket(),
            _ => None,
        }
    }

    /// When it has to be looked at whatever has happened.
    pub(super) fn due(&self) -> Deadline {
        match &self.stage {
            Stage::Connecting(connecting) => connecting.dialing.due(),
            Stage::Waiting(place) => place.due(),
            Stage::Ashore => self.attempt.call,
        }
    }

    /// Waits until there may be something to do, for a caller who has nothing else to do.
    pub(super) fn wait(&mut self) {
        match &mut self.stage {
            Stage::Ashore => {}
            Stage::Connecting(connecting) => connecting.dialing.wait(),
            Stage::Waiting(place) => place.wait(),
        }
    }
}

impl<'p> Place<'p> {
    /// A place at the end of the line, or what is free already.
    fn join(
        pool: &'p NodePool,
        attempt: Attempt,
        now: Instant,
    ) -> Result<Self, Result<Grant<Live>, Denied>> {
        let ticket = Arc::new(Ticket::new(Rider::default()));
        match pool.line.join(Use::Alone, &ticket) {
            Some(outcome) => Err(outcome),
            None => {
                pool.stats().waits.one();
                let connect = attempt.starting(now).connect;
                Ok(Self { pool, ticket, come: None, connect, end: attempt.call })
            }
        }
    }

    fn look(&mut self, now: Instant) -> Option<Result<Grant<Live>, Denied>> {
        let turn = match self.come.take().or_else(|| self.ticket.take()) {
            Some(turn) => turn,
            None => {
                let is_over = self.end.passed(now);
                if !is_over && !self.connect.passed(now) {
                    return None;
                }
                let counts = self.pool.counts();
                let connected = counts.open > counts.dialing;
                if !is_over && connected {
                    return None;
                }
                let denied = if connected { Denied::Exhausted } else { Denied::Unconnected };
                let late = self.pool.line.leave(Use::Alone, &self.ticket);
                late.unwrap_or(Turn::Denied(denied))
            }
        };
        Some(turn.into_grant())
    }

    /// When the next look has to be, unless its turn comes before.
    fn due(&self) -> Deadline {
        let to_connect = Some(self.connect).filter(|connect| !connect.passed(Instant::now()));
        to_connect.map_or(self.end, |connect| connect.min(self.end))
    }

    fn wait(&mut self) {
        if self.come.is_none() {
            self.come = self.ticket.take_by(self.due());
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let late = self.pool.line.leave(Use::Alone, &self.ticket);
        match self.come.take().or(late) {
            Some(Turn::Connection(live)) => {
                let closed = self.pool.line.give_back(live, Use::Alone);
                self.pool.discard_all(closed.into_iter().collect());
            }
            Some(Turn::Dial) => self.pool.line.dial_failed(Use::Alone),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::solo::pool;
    use super::*;
    use crate::testing::TestServer;
    use crate::time::Share;
    use std::time::Duration;

    #[test]
    fn who_waits_for_a_connection_in_use_beyond_the_time_to_connect_need_not_look_all_the_time() {
        let server = TestServer::start().expect("a port");
        let pool = pool(&server.address());
        let now = Instant::now();
        let call = Deadline::after(now, Duration::from_secs(20));
        let held = pool.lease(Attempt::only(call), now).expect("a connection");
        let share = Share::Fixed(Duration::ZERO);
        let mut boarding = pool.board(Attempt { share, ..Attempt::only(call) });
        assert!(boarding.look().is_none(), "it is in use");
        assert_eq!(boarding.due(), call);
        held.finish(Instant::now());
        assert!(boarding.look().expect("its turn").is_ok());
    }
}
