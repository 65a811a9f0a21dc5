//! Leases: a connection for one exchange, idle, fresh or handed over, and what becomes of it.

use std::time::{Duration, Instant};

use super::error::PoolError;
use super::line::Use;
use super::node::{NodeLine, NodePool};
use super::permits::Permit;
use super::ticket::{Denied, Grant};
use crate::net::{Connection, Dialing, NetError};
use crate::protocol::{Batch, Request, Scratch};
use crate::time::{Attempt, Deadline, Steps};

/// A socket unused for this long is looked at before it is used.
pub(super) const IDLE_CHECK: Duration = Duration::from_secs(1);

/// An open connection with its permit, in a box: it changes hands often, and is large.
pub(super) type Live = Box<Opened>;

/// An open connection; the socket closes before the permit goes back.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    _permit: Permit,
    pub(super) generation: u64,
    pub(super) expires: Instant,
    pub(super) used: Instant,
    /// Whether the server has answered on it.
    pub(super) proven: bool,
    /// For the batches that are put together for it.
    pub(super) scratch: Scratch,
}

/// A connection on loan; dropped without [`Lease::finish`] it is closed.
#[derive(Debug)]
pub(super) struct Lease<'p> {
    pool: &'p NodePool,
    live: Option<Live>,
    how: Use,
    /// When it was had: what came before says nothing of the server.
    since: Instant,
    /// When its exchange has to have ended.
    until: Deadline,
}

impl NodePool {
    /// A connection for one exchange: an idle one, a fresh one, or the next that comes free.
    pub(super) fn lease(&self, attempt: Attempt, mut now: Instant) -> Result<Lease<'_>, PoolError> {
        loop {
            let grant = match self.line.try_acquire(Use::Alone) {
                Some(outcome) => outcome,
                None => {
                    let grant = self.wait_alone(attempt, now);
                    now = Instant::now();
                    grant
                }
            };
            if let Some(lease) = self.take_up(grant, Use::Alone, attempt.starting(now), now)? {
                return Ok(lease);
            }
            // To find out that it is unfit may have taken a while.
            now = Instant::now();
        }
    }

    /// Makes a lease of a grant; `None` when the connection turned out to be unfit.
    pub(super) fn take_up(
        &self,
        grant: Result<Grant<Live>, Denied>,
        how: Use,
        steps: Steps,
        now: Instant,
    ) -> Result<Option<Lease<'_>>, PoolError> {
        match grant {
            Ok(Grant::Connection(live)) => {
                let idle = now.saturating_duration_since(live.used);
                let live = Some(live);
                let mut lease = Lease { pool: self, live, how, since: now, until: steps.exchange };
                if idle >= IDLE_CHECK && !self.process.is_current() {
                    // The parent's socket: closing this process' copy of it sends nothing.
                    return Err(PoolError::Forked);
                }
                Ok(lease.is_fit(steps.exchange, now).then_some(lease))
            }
            Ok(Grant::Dial) => self.dial(steps, how).map(Some),
            Err(denied) => Err(self.denied(denied)),
        }
    }

    /// What it means for a call.
    pub(super) fn denied(&self, why: Denied) -> PoolError {
        match why {
            Denied::Unconnected => PoolError::unconnected(),
            Denied::Exhausted => {
                self.stats().exhausted.one();
                PoolError::Exhausted
            }
            // In a forked child nobody came, since the parent's threads are not there.
            Denied::Late if !self.process.is_current() => PoolError::Forked,
            Denied::Late => PoolError::late(),
            Denied::Down => self.down(Instant::now()),
            Denied::Closed => PoolError::Closed,
        }
    }

    /// Opens a connection, having been granted the right to; on the caller's thread, under its deadline.
    pub(super) fn dial(&self, steps: Steps, how: Use) -> Result<Lease<'_>, PoolError> {
        let mut connecting = self.connect(steps, how)?;
        loop {
            match connecting.advance() {
                Some(end) => return end,
                None => connecting.dialing.wait(),
            }
        }
    }

    /// Starts to open a connection, having been granted the right to.
    pub(super) fn connect(&self, steps: Steps, how: Use) -> Result<Connecting<'_>, PoolError> {
        if !self.process.is_current() {
            return Err(PoolError::Forked);
        }
        let right = DialRight { line: &self.line, how, used: false };
        // The line counts permits as r2d2 does, and r2d2 gets each back before the line hears of it.
        let permit = self.permits.take().ok_or(PoolError::Exhausted)?;
        Ok(Connecting {
            pool: self,
            dialing: self.dialer.dial(steps.connect),
            rights: Some((permit, right)),
            started: Instant::now(),
            generation: self.generation(),
            until: steps.exchange,
        })
    }
}

/// A connection that is being opened; dropped before its end it counts as a failed dial that nobody is to blame for.
#[derive(Debug)]
pub(super) struct Connecting<'p> {
    pool: &'p NodePool,
    pub(super) dialing: Dialing<'p>,
    /// The permit goes back before the right to dial.
    rights: Option<(Permit, DialRight<'p>)>,
    started: Instant,
    generation: u64,
    /// When the exchange that it is for has to have ended.
    until: Deadline,
}

impl<'p> Connecting<'p> {
    /// Does what can be done without waiting; the end of it comes once.
    pub(super) fn advance(&mut self) -> Option<Result<Lease<'p>, PoolError>> {
        let end = self.dialing.advance()?;
        let (permit, right) = self.rights.take()?;
        let (pool, how) = (self.pool, right.how);
        Some(match end {
            Ok(stream) => {
                let now = Instant::now();
                pool.stats().dials.one();
                let live = Box::new(Opened {
                    connection: Connection::new(stream, pool.limits, now),
                    _permit: permit,
                    generation: pool.generation(),
                    expires: Deadline::after(now, pool.lifetime()).instant(),
                    used: now,
                    proven: false,
                    scratch: Scratch::default(),
                });
                right.used();
                Ok(Lease { pool, live: Some(live), how, since: now, until: self.until })
            }
            Err(mut e) => {
                let nodes_fault = pool.is_nodes_fault(&e, self.started.elapsed());
                // Before its place is free: whoever takes that should know.
                let counts = nodes_fault && self.generation == pool.generation();
                let change = if counts { pool.judge_dial(&e) } else { None };
                drop(permit);
                drop(right);
                pool.tell(change);
                // Where others could not connect either, it is the server again.
                if !nodes_fault && pool.health.is_clear() {
                    e.hurried();
                }
                log::debug!("{}: connecting failed: {e:?}", pool.name());
                Err(PoolError::Net(e))
            }
        })
    }
}

impl NodePool {
    /// Ends the use of a connection after a complete exchange; it is kept if the protocol says that it can be used again.
    pub(super) fn put_back(&self, mut live: Live, how: Use, now: Instant) {
        live.used = now;
        live.proven = true;
        let fit = live.connection.is_reusable();
        let gone = if fit { self.line.give_back(live, how) } else { Some(live) };
        if let Some(live) = gone {
            drop(live);
            self.line.lost(how);
        }
    }
}

#[cfg(feature = "_fuzzing")]
impl NodePool {
    /// Takes a connection and gives it back unused; whether there was one.
    pub(crate) fn check_out_and_in(&self, deadline: Deadline, now: Instant) -> bool {
        self.lease(Attempt::only(deadline), now).map(|lease| lease.finish(now)).is_ok()
    }
}

impl Lease<'_> {
    /// The connection; `None` cannot happen before `finish`, which consumes the lease.
    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.live.as_mut().map(|live| &mut live.connection)
    }

    /// When it was had, and until when its exchange may last.
    pub(super) fn times(&self) -> (Instant, Deadline) {
        (self.since, self.until)
    }

    /// Whether it was used before, and its generation: what a failure on it says of the others.
    pub(super) fn history(&self) -> (bool, u64) {
        self.live.as_ref().map_or((false, 0), |live| (live.proven, live.generation))
    }

    /// Gives the connection back after a complete exchange, if the protocol says that it can be used again.
    pub(super) fn finish(mut self, now: Instant) {
        if let Some(live) = self.live.take() {
            self.pool.put_back(live, self.how, now);
        }
    }

    /// Hands the connection to whoever will see to it that it goes back.
    pub(super) fn into_live(mut self) -> Option<Live> {
        self.live.take()
    }

    /// Whether the connection can be expected to work; a closed one retires its generation.
    fn is_fit(&mut self, deadline: Deadline, now: Instant) -> bool {
        let pool = self.pool;
        let Some(live) = self.live.as_mut() else { return false };
        if pool.is_outdated(live, now) {
            return false;
        }
        if now.saturating_duration_since(live.used) < IDLE_CHECK {
            return true;
        }
        let alive = if pool.config.alive_check {
            let share = Deadline::after(now, deadline.left(now) / 2);
            let within = share.min(Deadline::after(now, pool.config.connect_timeout));
            match answers(&mut live.connection, within, now) {
                Ok(alive) => alive,
                // The call had little time; that says nothing of the other connections.
                Err(e) if e.is_time_out() && !pool.is_silence(&e) => return false,
                Err(_) => false,
            }
        } else {
            live.connection.is_quiet()
        };
        if !alive {
            pool.retire(live.generation);
        }
        alive
    }
}

/// A key that nobody stores; a miss says that the server is alive, and so does any other whole answer.
const NOBODY: &[u8] = b"mcpool:alive";

/// What a live server answers, and so does every proxy: a `get`. Some hang up on `version`.
pub(super) fn asking_for_nobody() -> Batch<'static> {
    let mut batch = Batch::new();
    batch.push(&Request::Get { keys: &[NOBODY], cas: false });
    batch
}

/// A round trip; whether the connection can be used after it.
fn answers(
    connection: &mut Connection,
    deadline: Deadline,
    now: Instant,
) -> Result<bool, NetError> {
    let mut batch = asking_for_nobody();
    connection.begin(&batch, now);
    connection.exchange(&mut batch, deadline, Duration::ZERO)?;
    Ok(connection.is_reusable())
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(live) = self.live.take() {
            drop(live);
            self.pool.line.lost(self.how);
        }
    }
}

/// The right to dial; dropped unused it counts as a failed dial, also when dialling panics.
#[derive(Debug)]
struct DialRight<'p> {
    line: &'p NodeLine,
    how: Use,
    used: bool,
}

impl DialRight<'_> {
    fn used(mut self) {
        self.used = true;
    }
}

impl Drop for DialRight<'_> {
    fn drop(&mut self) {
        if self.used {
            self.line.dialed();
        } else {
            self.line.dial_failed(self.how);
        }
    }
}
