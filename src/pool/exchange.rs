//! Runs batches on leased connections: one node at a time, or several at once on the caller's thread.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::error::PoolError;
use super::node::{Lease, NodePool};
use crate::error::Phase;
use crate::net::{Need, NetError, Trouble};
use crate::protocol::{Batch, Reply};
use crate::time::Deadline;

/// A batch on its way over one node's connection; dropped before its end it closes the connection.
#[derive(Debug)]
pub(crate) struct InFlight<'p, 'b> {
    pool: &'p NodePool,
    batch: Batch<'b>,
    lease: Option<Lease<'p>>,
    need: Need,
    outcome: Result<Vec<Option<Reply>>, PoolError>,
}

impl NodePool {
    /// Sends one request and reads its reply, by `deadline` at the latest.
    ///
    /// # Errors
    /// No connection could be had, or the exchange failed; [`PoolError::fate`] says whether the
    /// request may have been carried out.
    pub(crate) fn exchange(
        &self,
        batch: &Batch<'_>,
        deadline: Deadline,
        now: Instant,
    ) -> Result<Reply, PoolError> {
        let mut lease = self.lease(deadline, now)?;
        let (proven, generation) = lease.history();
        let Some(connection) = lease.connection() else { return Err(PoolError::Closed) };
        connection.begin(batch, now);
        if let Err(e) = connection.exchange(batch, deadline, self.config.busy_poll) {
            self.exchange_failed(proven, generation, &e);
            return Err(PoolError::Net(e));
        }
        let reply = connection.take(0);
        lease.finish(now);
        self.exchange_done(now);
        reply.ok_or_else(in_doubt)
    }

    /// Starts a batch, waiting for a connection if need be.
    pub(crate) fn begin<'b>(
        &self,
        batch: Batch<'b>,
        deadline: Deadline,
        now: Instant,
    ) -> Result<InFlight<'_, 'b>, PoolError> {
        let lease = self.lease(deadline, now)?;
        Ok(self.launch(lease, batch, now))
    }

    /// Starts a batch if a connection can be had without waiting for another caller; else gives it back.
    pub(crate) fn try_begin<'b>(
        &self,
        batch: Batch<'b>,
        deadline: Deadline,
        now: Instant,
    ) -> Result<Result<InFlight<'_, 'b>, Batch<'b>>, PoolError> {
        Ok(match self.try_lease(deadline, now)? {
            Some(lease) => Ok(self.launch(lease, batch, now)),
            None => Err(batch),
        })
    }

    fn launch<'p, 'b>(
        &'p self,
        mut lease: Lease<'p>,
        batch: Batch<'b>,
        now: Instant,
    ) -> InFlight<'p, 'b> {
        if let Some(connection) = lease.connection() {
            connection.begin(&batch, now);
        }
        let mut flight = InFlight {
            pool: self,
            batch,
            lease: Some(lease),
            need: Need::ReadWrite,
            outcome: Ok(Vec::new()),
        };
        flight.advance(now);
        flight
    }
}

impl<'b> InFlight<'_, 'b> {
    /// The replies in the order of the requests (`None`: in doubt), or why there are none, and the batch.
    pub(crate) fn into_outcome(self) -> (Result<Vec<Option<Reply>>, PoolError>, Batch<'b>) {
        (self.outcome, self.batch)
    }

    fn is_over(&self) -> bool {
        self.lease.is_none()
    }

    /// Moves what can be moved without waiting; at the end the connection goes back.
    fn advance(&mut self, now: Instant) {
        let Some(connection) = self.lease.as_mut().and_then(Lease::connection) else { return };
        match connection.advance(&self.batch) {
            Ok(Need::Nothing) => {
                self.outcome = Ok((0..self.batch.len()).map(|i| connection.take(i)).collect());
                if let Some(lease) = self.lease.take() {
                    lease.finish(now);
                }
                self.pool.exchange_done(now);
            }
            Ok(need) => self.need = need,
            Err(e) => self.fail(e),
        }
    }

    fn time_out(&mut self) {
        if let Some(connection) = self.lease.as_mut().and_then(Lease::connection) {
            let e = connection.timed_out(&self.batch);
            self.fail(e);
        }
    }

    fn fail(&mut self, e: NetError) {
        let Some(lease) = self.lease.take() else { return };
        let (proven, generation) = lease.history();
        drop(lease);
        self.pool.exchange_failed(proven, generation, &e);
        self.outcome = Err(PoolError::Net(e));
    }
}

/// Runs all batches to their end, or until `deadline`; each ends on its own, none waits for another.
pub(crate) fn drive(flights: &mut [InFlight<'_, '_>], deadline: Deadline, now: Instant) {
    loop {
        let ready = match wait_for_any(flights, deadline) {
            Some(ready) => ready,
            None => return,
        };
        if ready.is_empty() && deadline.passed(Instant::now()) {
            flights.iter_mut().for_each(InFlight::time_out);
            return;
        }
        for i in ready {
            if let Some(flight) = flights.get_mut(i) {
                flight.advance(now);
            }
        }
    }
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
    // A signal or a system error only ends the wait early: the sockets say what is wrong.
    let _ = poll(&mut fds, Some(&timespec(deadline.left(Instant::now()))));
    let ready = fds.iter().zip(which).filter(|(fd, _)| !fd.revents().is_empty());
    Some(ready.map(|(_, i)| i).collect())
}

fn timespec(left: Duration) -> Timespec {
    Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    }
}

/// The reply was never read since an earlier one of the batch left the connection in doubt.
pub(super) fn in_doubt() -> PoolError {
    PoolError::Net(NetError { phase: Phase::Read, trouble: Trouble::Doubt, sent: true })
}
