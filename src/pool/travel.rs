//! A caller's way through a pool that is shared: alone while there is room, else as rider or conductor of a train.
//!
//! Whoever has the connection conducts: sends, reads, hands out the answers. It conducts one train, until
//! all of it has arrived, or its own answer has and others wait for theirs, or its deadline; then
//! another rider with time left goes on.

use std::sync::Arc;
use std::time::Instant;

use super::error::PoolError;
use super::exchange::in_doubt;
use super::lease::{Lease, Live};
use super::line::{Grant, Use};
use super::node::NodePool;
use super::ticket::{Ticket, Turn};
use super::train::{Arrival, Rider, Train};
use crate::net::NetError;
use crate::protocol::{Batch, Reply};
use crate::time::{Attempt, Deadline};

/// The most requests on one train, the conductor's included.
const SEATS: usize = 64;
/// The most bytes of them, the conductor's not counted.
const LOAD: usize = 64 << 10;

/// A train and who conducts it; dropped before its end the connection is closed, and every rider is told.
struct Conductor<'p> {
    pool: &'p NodePool,
    train: Option<Box<Train>>,
    seat: usize,
}

impl NodePool {
    /// Runs a small request on a connection of its own if one is free, else together with those of others.
    pub(super) fn travel(
        &self,
        batch: &mut Batch<'_>,
        attempt: Attempt,
        mut now: Instant,
    ) -> Result<Reply, PoolError> {
        loop {
            let mut others = true;
            let turn = match self.line.try_acquire(Use::Shared) {
                Some(Ok(grant)) => {
                    // Nobody waited a moment ago; while one dials, many may come.
                    others = matches!(grant, Grant::Dial);
                    grant.into()
                }
                Some(Err(denied)) => Turn::Denied(denied),
                None => {
                    let turn = self.wait_along(batch, attempt, now);
                    now = Instant::now();
                    turn
                }
            };
            let grant = match turn {
                Turn::Connection(live) => Ok(Grant::Connection(live)),
                Turn::Dial => Ok(Grant::Dial),
                Turn::Denied(denied) => Err(denied),
                Turn::Answer(Arrival::Reply(reply)) => return reply,
                Turn::Answer(Arrival::Alone) => break,
                Turn::Answer(Arrival::Conduct(train, seat)) => {
                    let conductor = Conductor { pool: self, train: Some(train), seat };
                    match conductor.run(attempt.starting(now).exchange) {
                        Arrival::Reply(reply) => return reply,
                        _ => break,
                    }
                }
            };
            let Some(lease) = self.take_up(grant, Use::Shared, attempt.starting(now), now)? else {
                continue;
            };
            if !others {
                return self.run_alone(lease, batch);
            }
            match self.depart(lease, batch) {
                Arrival::Reply(reply) => return reply,
                _ => break,
            }
        }
        let now = Instant::now();
        self.run_alone(self.lease(attempt, now)?, batch)
    }

    /// Waits for a connection, with a request that others may take along.
    fn wait_along(
        &self,
        batch: &mut Batch<'_>,
        attempt: Attempt,
        now: Instant,
    ) -> Turn<Live, Arrival> {
        let rider = Rider { batch: batch.lend().unwrap_or_default(), until: Some(attempt.call) };
        let ticket = Arc::new(Ticket::new(rider));
        let turn = self.wait(Use::Shared, &ticket, attempt, now);
        *batch = ticket.with_request(|rider| std::mem::take(&mut rider.batch));
        turn
    }

    /// Runs a request on a connection, and with it those of all who wait for one.
    fn depart(&self, lease: Lease<'_>, batch: &mut Batch<'_>) -> Arrival {
        let (mut seats, mut load) = (1, 0);
        let tickets = self.line.take_along(|ticket| {
            seats += 1;
            load += ticket.with_request(|rider| rider.batch.wire_len());
            seats <= SEATS && load <= LOAD
        });
        if tickets.is_empty() {
            return Arrival::Reply(self.run_alone(lease, batch));
        }
        let (now, until) = lease.times();
        let own = batch.lend().unwrap_or_default();
        let train = lease.into_live().map(|live| Train::new(live, &own, &tickets, now));
        *batch = own;
        match train {
            Some((train, seat)) => {
                Conductor { pool: self, train: Some(Box::new(train)), seat }.run(until)
            }
            None => Arrival::Alone,
        }
    }
}

impl Conductor<'_> {
    /// Conducts until the own request's answer is here, or the time for it is over.
    fn run(mut self, until: Deadline) -> Arrival {
        let seat = self.seat;
        let mut mine = None;
        while let Some(train) = self.train.as_mut() {
            let step = match mine {
                None => train.step(until, self.pool.config.busy_poll),
                Some(_) => train.collect(),
            };
            let failure = match (train.deliver(seat), step) {
                (Ok(arrival), Ok(true)) => {
                    mine = mine.or(arrival).or(self.arrive());
                    continue;
                }
                (Ok(_), Ok(false)) if mine.is_some() => {
                    self.hand_over(None);
                    continue;
                }
                (Ok(arrival), Ok(false)) => {
                    mine = arrival;
                    continue;
                }
                (Ok(arrival), Err(e)) => {
                    mine = mine.or(arrival);
                    e
                }
                (Err(turned_away), _) => turned_away,
            };
            if failure.is_time_out() {
                mine = mine.or_else(|| Some(train.late(seat, &failure)));
                self.hand_over(Some(&failure));
            } else {
                mine = mine.or(self.fail(&failure));
            }
        }
        mine.unwrap_or(Arrival::Alone)
    }

    /// Ends a train whose replies have all come; those that are in doubt are told so.
    fn arrive(&mut self) -> Option<Arrival> {
        let mut train = self.train.take()?;
        let now = Instant::now();
        let (answered, took) = train.arrived(now);
        let mine = train.fail(self.seat, &in_doubt(true));
        self.pool.put_back(train.into_live(), Use::Shared, now);
        self.pool.patience.learn(took);
        self.pool.exchange_done(u64::try_from(answered).unwrap_or(u64::MAX));
        mine
    }

    /// Lets another rider go on after a time-out, or after the own answer; without one the connection is closed.
    fn hand_over(&mut self, why: Option<&NetError>) {
        let Some(mut train) = self.train.take() else { return };
        let why = why.filter(|_| !train.blamed);
        train.blamed |= why.is_some();
        let change = why.and_then(|e| self.pool.judge(train.live.proven, train.live.generation, e));
        if let Some(train) = train.hand_over(Instant::now()) {
            drop(train);
            self.pool.line.lost(Use::Shared);
        }
        self.pool.tell(change);
    }

    /// Closes the connection and tells every rider why.
    fn fail(&mut self, e: &NetError) -> Option<Arrival> {
        let mut train = self.train.take()?;
        // Before its place is free: whoever takes that should know.
        let change = if e.is_dial() {
            self.pool.judge_dial()
        } else {
            self.pool.judge(train.live.proven, train.live.generation, e)
        };
        let mine = train.fail(self.seat, e);
        drop(train);
        self.pool.line.lost(Use::Shared);
        self.pool.tell(change);
        log::debug!("{}: a shared exchange failed: {e:?}", self.pool.name());
        mine
    }
}

impl Drop for Conductor<'_> {
    fn drop(&mut self) {
        // Nothing but a panic comes here with a train.
        let _ = self.fail(&in_doubt(true));
    }
}
