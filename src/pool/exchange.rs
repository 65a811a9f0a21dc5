//! Runs one request on a leased connection, or together with those of others.

use std::io;
use std::time::Instant;

use super::error::PoolError;
use super::lease::Lease;
use super::node::NodePool;
use crate::error::Phase;
use crate::net::{NetError, Trouble};
use crate::protocol::{Batch, RefusalKind, Reply};
use crate::time::Attempt;

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

    /// Counts a complete exchange; a server that turned the connection away was not reached at all.
    fn answered(&self, reply: Option<Reply>) -> Result<Reply, PoolError> {
        if let Some(e) = turned_away(reply.as_ref()) {
            self.dial_failed(&e);
            return Err(PoolError::Net(e));
        }
        let reply = reply.ok_or_else(|| PoolError::Net(in_doubt(true)))?;
        self.exchange_done(1);
        Ok(reply)
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
