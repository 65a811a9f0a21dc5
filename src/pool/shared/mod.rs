//! A caller's way through a pool that is shared: alone while there is room, else as rider or conductor of a train.
//!
//! Whoever has the connection conducts: sends, reads, hands out the answers. It conducts one train, until
//! all of it has arrived, or its own answer has and others wait for theirs, or its deadline; then
//! another rider with time left goes on.

mod load;
mod train;

use std::sync::Arc;
use std::time::Instant;

use super::error::PoolError;
use super::exchange::in_doubt;
use super::lease::{Lease, Live};
use super::line::Use;
use super::node::NodePool;
use super::ticket::{Grant, Ticket, Turn};
use crate::net::NetError;
use crate::protocol::{Batch, Reply};
use crate::time::{Attempt, Deadline};
pub(super) use train::{Arrival, Rider};
use train::{Train, failed};

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
                    let until = attempt.starting(train.since).exchange;
                    match (Conductor { pool: self, train: Some(train), seat }).run(until) {
                        Arrival::Reply(reply) => return reply,
                        _ => break,
                    }
                }
            };
            let Some(lease) = self.take_up(grant, Use::Shared, attempt.starting(now), now)? else {
                // To find out that it is unfit may have taken a while.
                now = Instant::now();
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
        let batch_of_rider = batch.lend().unwrap_or_default();
        let rider = Rider { batch: batch_of_rider, until: Some(attempt.call), since: None };
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
                // What was not sent by now may still be, by whoever goes on.
                let sent = train.has_sent(seat);
                let goes_on = self.hand_over(Some(&failure));
                mine = mine.or_else(|| Some(failed(failure.again(sent || goes_on))));
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
        let (answered, took) = (train.newly_arrived(), train.age(now));
        let mine = train.fail(self.seat, &in_doubt(true));
        self.pool.put_back(train.into_live(), Use::Shared, now);
        self.pool.patience.learn(took);
        self.pool.line.learn(took);
        self.pool.exchange_done(answered);
        mine
    }

    /// Lets another rider go on after a time-out, or after the own answer; without one, `false`, the connection is closed.
    fn hand_over(&mut self, why: Option<&NetError>) -> bool {
        let Some(mut train) = self.train.take() else { return false };
        let life = self.pool.judge_answers(train.newly_arrived());
        // One with too little time to tell leaves the judgement to those behind.
        let silence = why.filter(|e| !train.blamed && self.pool.is_silence(e));
        train.blamed |= silence.is_some();
        let change =
            silence.and_then(|e| self.pool.judge(train.live.proven, train.live.generation, e));
        let left = train.hand_over(Instant::now());
        let goes_on = left.is_none();
        if let Some(train) = left {
            if !train.blamed {
                self.pool.stats().failures.one();
            }
            drop(train);
            self.pool.line.lost(Use::Shared);
        }
        self.pool.tell(life);
        self.pool.tell(change);
        goes_on
    }

    /// Closes the connection and tells every rider why.
    fn fail(&mut self, e: &NetError) -> Option<Arrival> {
        let mut train = self.train.take()?;
        // Before its place is free: whoever takes that should know.
        let life = self.pool.judge_answers(train.newly_arrived());
        let change = match e.is_dial() {
            true => self.pool.judge_dial(e),
            false => self.pool.judge(train.live.proven, train.live.generation, e),
        };
        let mine = train.fail(self.seat, e);
        drop(train);
        self.pool.line.lost(Use::Shared);
        self.pool.tell(life);
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

#[cfg(test)]
mod tests {
    use super::super::solo::pool;
    use super::*;
    use crate::error::Fate;
    use crate::protocol::Request;
    use crate::testing::TestServer;
    use crate::time::Steps;
    use std::time::Duration;

    fn incr(by: u64) -> Batch<'static> {
        let mut batch = Batch::new();
        batch.push(&Request::Incr { key: b"n", by });
        batch
    }

    #[test]
    fn who_is_late_before_its_request_went_out_cannot_know_whether_the_next_one_sends_it() {
        let server = TestServer::start().expect("a port");
        server.put("n", "1", 0);
        let pool = pool(&server.address());
        let now = Instant::now();
        let patient = Deadline::after(now, Duration::from_secs(20));
        let grant = pool.line.try_acquire(Use::Shared).expect("nobody is there");
        let steps = Steps { connect: patient, exchange: Deadline::after(now, Duration::ZERO) };
        let lease = pool.take_up(grant, Use::Shared, steps, now).expect("a connection");
        std::thread::scope(|scope| {
            let rider = scope
                .spawn(|| pool.exchange(&mut incr(10), Attempt::only(patient), Instant::now()));
            while pool.counts().waiting == 0 {
                assert!(!patient.passed(Instant::now()), "it does not wait");
                std::thread::yield_now();
            }
            match pool.depart(lease.expect("fit"), &mut incr(1)) {
                Arrival::Reply(Err(e)) => assert_eq!(e.fate(), Fate::Unknown),
                other => panic!("it had no time: {other:?}"),
            }
            let reply = rider.join().expect("no panic").expect("counted");
            assert_eq!(reply, Reply::Number(12), "both were");
        });
    }
}
