//! Runs batches on leased connections: one node at a time, or several at once on the caller's thread.

use std::io;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::error::PoolError;
use super::lease::Lease;
use super::node::NodePool;
use crate::error::Phase;
use crate::net::{Need, NetError, Trouble, timespec};
use crate::protocol::{Batch, RefusalKind, Reply};
use crate::time::{Attempt, Deadline};

/// A batch on its way over one node's connection; dropped before its end it closes the connection.
#[derive(Debug)]
pub(crate) struct InFlight<'p, 'b> {
    pool: &'p NodePool,
    batch: Batch<'b>,
    lease: Option<Lease<'p>>,
    need: Need,
    outcome: Outcome,
}

/// What came of a batch.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The replies in the order of the requests; after an error those that are beyond doubt, and of a read of keys
    /// the part that is.
    pub(crate) replies: Vec<Option<Reply>>,
    /// How many requests the kernel took to their last byte: the others were surely not processed.
    pub(crate) sent: usize,
    /// Why the exchange ended early.
    pub(crate) error: Option<NetError>,
}

impl NodePool {
    /// Sends one request and reads its reply, within the attempt's time.
    ///
    /// # Errors
    /// No connection could be had, or the exchange failed; [`PoolError::fate`] says whether the
    /// request may have been carried out.
    pub(crate) fn exchange(
        &self,
        batch: &mut Batch<'_>,
        attempt: Attempt,
        now: Instant,
    ) -> Result<Reply, PoolError> {
        if self.config.share && batch.may_travel() {
            self.travel(batch, attempt, now)
        } else {
            self.run_alone(self.lease(attempt, now)?, batch)
        }
    }

    /// Runs one request on a connection that is used for nothing else meanwhile.
    pub(super) fn run_alone(
        &self,
        mut lease: Lease<'_>,
        batch: &mut Batch<'_>,
    ) -> Result<Reply, PoolError> {
        let (now, deadline) = lease.times();
        let (proven, generation) = lease.history();
        let Some(connection) = lease.connection() else { return Err(PoolError::Closed) };
        connection.begin(batch, now);
        let ended = connection.exchange(batch, deadline, self.config.busy_poll);
        let reply = connection.take(0);
        if let Err(e) = ended {
            // Before its place is free: whoever takes that should know.
            let change = self.judge(proven, generation, &e);
            drop(lease);
            self.exchange_failed(change, &e);
            // A hit is proven by its key, whatever came behind it.
            return reply.ok_or(PoolError::Net(e));
        }
        lease.finish(now);
        self.answered(reply)
    }

    /// Starts a batch, waiting for a connection if need be.
    pub(crate) fn begin<'b>(
        &self,
        batch: Batch<'b>,
        attempt: Attempt,
        now: Instant,
    ) -> Result<InFlight<'_, 'b>, PoolError> {
        let lease = self.lease(attempt, now)?;
        Ok(self.launch(lease, batch))
    }

    /// Starts a batch if a connection can be had without waiting for another caller; else gives it back.
    pub(crate) fn try_begin<'b>(
        &self,
        batch: Batch<'b>,
        attempt: Attempt,
        now: Instant,
    ) -> Result<Result<InFlight<'_, 'b>, Batch<'b>>, PoolError> {
        Ok(match self.try_lease(attempt, now)? {
            Some(lease) => Ok(self.launch(lease, batch)),
            None => Err(batch),
        })
    }

    fn launch<'p, 'b>(&'p self, mut lease: Lease<'p>, mut batch: Batch<'b>) -> InFlight<'p, 'b> {
        let (now, _) = lease.times();
        let started = match lease.connection() {
            Some(connection) => {
                connection.begin(&batch, now);
                connection.launch(&mut batch)
            }
            None => Ok(Need::Nothing),
        };
        let mut flight = InFlight {
            pool: self,
            batch,
            lease: Some(lease),
            need: Need::ReadWrite,
            outcome: Outcome::default(),
        };
        match started {
            Ok(need) => flight.need = need,
            Err(e) => flight.end(Some(e), now),
        }
        flight
    }

    /// Counts a complete exchange; a server that turned the connection away was not reached at all.
    fn answered(&self, reply: Option<Reply>) -> Result<Reply, PoolError> {
        if let Some(e) = turned_away(reply.as_ref()) {
            self.dial_failed();
            return Err(PoolError::Net(e));
        }
        let reply = reply.ok_or_else(|| PoolError::Net(in_doubt(true)))?;
        self.exchange_done(1);
        Ok(reply)
    }
}

impl InFlight<'_, '_> {
    /// What came of it, once it was driven.
    pub(crate) fn into_outcome(self) -> Outcome {
        self.outcome
    }

    fn is_over(&self) -> bool {
        self.lease.is_none()
    }

    /// Moves what can be moved without waiting; at the end the connection goes back.
    fn advance(&mut self, now: Instant) {
        let Some(connection) = self.lease.as_mut().and_then(Lease::connection) else { return };
        match connection.advance(&mut self.batch) {
            Ok(Need::Nothing) => self.end(None, now),
            Ok(need) => self.need = need,
            Err(e) => self.end(Some(e), now),
        }
    }

    fn time_out(&mut self, deadline: Deadline, now: Instant) {
        if let Some(connection) = self.lease.as_mut().and_then(Lease::connection) {
            let e = connection.timed_out(&self.batch, deadline);
            self.end(Some(e), now);
        }
    }

    /// Takes the replies and gives the connection back, or closes it.
    fn end(&mut self, error: Option<NetError>, now: Instant) {
        let Some(mut lease) = self.lease.take() else { return };
        let (proven, generation) = lease.history();
        if let Some(connection) = lease.connection() {
            let requests = 0..self.batch.len();
            let sent = connection.sent();
            self.outcome.sent =
                requests.clone().take_while(|i| self.batch.sent_whole(*i, sent)).count();
            self.outcome.replies = requests.map(|i| connection.take(i)).collect();
            let part = error.as_ref().and_then(|_| connection.take_part(&self.batch));
            if let Some((i, reply)) = part {
                self.outcome.replies.get_mut(i).map(|slot| slot.replace(reply));
            }
        }
        match &error {
            None => {
                lease.finish(now);
                if let Some(e) = turned_away(self.outcome.replies.first().and_then(Option::as_ref))
                {
                    self.pool.dial_failed();
                    self.outcome = Outcome { error: Some(e), ..Outcome::default() };
                    return;
                }
                self.pool.exchange_done(1);
            }
            Some(e) => {
                let change = self.pool.judge(proven, generation, e);
                drop(lease);
                self.pool.exchange_failed(change, e);
            }
        }
        self.outcome.error = error;
    }
}

/// Runs all batches to their end, or until `deadline`; each ends on its own, none waits for another.
pub(crate) fn drive(flights: &mut [InFlight<'_, '_>], deadline: Deadline, now: Instant) {
    loop {
        // What has come by the deadline still counts, once; a reply may have no end.
        let late = deadline.passed(Instant::now());
        if !drive_for(flights, deadline, now) {
            return;
        }
        if late {
            flights.iter_mut().for_each(|flight| flight.time_out(deadline, now));
            return;
        }
    }
}

/// Moves what can be moved, waiting for that until `pause` at most; `false` when all batches are at their end.
pub(crate) fn drive_for(flights: &mut [InFlight<'_, '_>], pause: Deadline, now: Instant) -> bool {
    let Some(ready) = wait_for_any(flights, pause) else { return false };
    for i in ready {
        if let Some(flight) = flights.get_mut(i) {
            flight.advance(now);
        }
    }
    true
}

/// Waits until some unfinished flight can move, and says which; `None` when all are over.
fn wait_for_any(flights: &mut [InFlight<'_, '_>], deadline: Deadline) -> Option<Vec<usize>> {
    let mut which = Vec::with_capacity(flights.len());
    let mut fds = Vec::with_capacity(flights.len());
    for (i, flight) in flights.iter_mut().enumerate().filter(|(_, f)| !f.is_over()) {
        let flags = match flight.need {
            Need::ReadWrite => PollFlags::IN | PollFlags::OUT,
            _ => PollFlags::IN,
        };
        if let Some(connection) = flight.lease.as_mut().and_then(Lease::connection) {
            which.push(i);
            fds.push(PollFd::new(connection, flags));
        }
    }
    if fds.is_empty() {
        return None;
    }
    match poll(&mut fds, Some(&timespec(deadline.left(Instant::now())))) {
        // A signal only ends the wait early.
        Ok(_) | Err(Errno::INTR) => {
            let ready = fds.iter().zip(which).filter(|(fd, _)| !fd.revents().is_empty());
            Some(ready.map(|(_, i)| i).collect())
        }
        // Where the system cannot wait, each socket is asked.
        Err(_) => {
            std::thread::yield_now();
            Some(which)
        }
    }
}

/// The error that stands for a first reply by which the server, which read no request, turned the connection away.
pub(super) fn turned_away(first: Option<&Reply>) -> Option<NetError> {
    let Some(Reply::Refused(refusal)) = first else { return None };
    (refusal.kind == RefusalKind::TooManyConnections).then(|| {
        let e = io::Error::new(io::ErrorKind::ConnectionRefused, refusal.text.clone());
        NetError::unsent(Phase::Connect, Trouble::Io(e))
    })
}

/// The reply was never read since an earlier one of the batch left the connection in doubt.
pub(crate) fn in_doubt(sent: bool) -> NetError {
    NetError { phase: Phase::Read, trouble: Trouble::Doubt, sent }
}
