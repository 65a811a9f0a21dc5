//! One node's pool: leases connections, dials on the borrower's thread, keeps the node's health.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::config::PoolConfig;
use super::error::PoolError;
use super::line::{Counts, Denied, Grant, Line};
use super::maintenance::Wake;
use super::permits::{Permit, Permits, Worker};
use super::process::Process;
use crate::health::{Failure, Gate, Health, NodeState, Rules, Transition};
use crate::net::{Connection, DialOptions, Dialer, NetError, Trouble};
use crate::protocol::{Batch, Limits, Request};
use crate::stats::NodeStats;
use crate::time::Deadline;
use crate::types::Server;

/// A socket unused for this long is looked at before it is used.
const IDLE_CHECK: Duration = Duration::from_secs(1);
/// A time-out counts against the node only when it was silent for this long.
const SILENCE: Duration = Duration::from_millis(200);

/// What a node's pool is made from.
#[derive(Debug)]
pub(crate) struct NodeSetup<'a> {
    pub(crate) server: &'a Server,
    pub(crate) config: &'a PoolConfig,
    pub(crate) io_timeout: Duration,
    pub(crate) health: Rules,
    pub(crate) seed: u64,
    pub(crate) worker: &'a Worker,
    /// When the permits have to be there.
    pub(crate) deadline: Deadline,
    pub(crate) wake: Wake,
}

/// One node: its connections, its health, its counters.
#[derive(Debug)]
pub(crate) struct NodePool {
    name: Arc<str>,
    address: Arc<str>,
    weight: u32,
    dialer: Dialer,
    limits: Limits,
    pub(super) config: PoolConfig,
    pub(super) health: Health,
    pub(super) line: Line<Live>,
    permits: Permits,
    stats: NodeStats,
    /// Sockets of an older generation are closed as they are met: the server was restarted, or went down.
    generation: AtomicU64,
    closed: AtomicBool,
    process: Process,
    seed: AtomicU64,
    wake: Wake,
}

/// An open connection with its permit; the socket closes before the permit goes back.
#[derive(Debug)]
pub(crate) struct Live {
    pub(super) connection: Connection,
    _permit: Permit,
    generation: u64,
    expires: Instant,
    used: Instant,
    /// Whether an exchange on it was completed before.
    proven: bool,
}

/// A connection on loan; dropped without [`Lease::finish`] it is closed.
#[derive(Debug)]
pub(super) struct Lease<'p> {
    pool: &'p NodePool,
    live: Option<Live>,
}

impl NodePool {
    /// Sets the node up without connecting; `None` when the permits cannot be made.
    pub(crate) fn new(setup: NodeSetup<'_>) -> Option<Self> {
        let NodeSetup { server, config, io_timeout, health, seed, worker, deadline, wake } = setup;
        let options = DialOptions {
            connect_timeout: config.connect_timeout,
            io_timeout,
            nodelay: config.nodelay,
            keepalive: config.keepalive,
        };
        let max = usize::try_from(config.max_connections).unwrap_or(usize::MAX);
        let max_dials = usize::try_from(config.max_dials).unwrap_or(usize::MAX);
        Some(Self {
            name: server.name().into(),
            address: server.address().into(),
            weight: server.weight(),
            dialer: Dialer::new(server.endpoint(), options, worker.spawner()),
            limits: Limits { max_value_bytes: config.max_reply_value, ..Limits::default() },
            config: config.clone(),
            health: Health::new(health, seed),
            line: Line::new(max, max_dials),
            permits: Permits::new(config.max_connections, worker, deadline)?,
            stats: NodeStats::default(),
            generation: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            process: Process::current(),
            seed: AtomicU64::new(seed),
            wake,
        })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn weight(&self) -> u32 {
        self.weight
    }

    pub(crate) fn stats(&self) -> &NodeStats {
        &self.stats
    }

    pub(crate) fn counts(&self) -> Counts {
        self.line.counts()
    }

    pub(crate) fn state(&self, now: Instant) -> NodeState {
        self.health.state(now)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether a call may go to this node now; one relaxed load while it is up.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), PoolError> {
        if self.health.is_up() {
            return Ok(());
        }
        // With a maintenance thread, that one probes; without, a caller's own call is the probe.
        match self.health.gate(now, self.config.maintenance_interval.is_zero()) {
            Gate::Up | Gate::Probe => Ok(()),
            Gate::Down { .. } => {
                self.stats.turned_away.one();
                Err(if self.is_closed() { PoolError::Closed } else { PoolError::Down })
            }
        }
    }

    /// Lets a node back in that `failback(false)` keeps out, or that is waiting for its next probe.
    pub(crate) fn restore(&self) {
        self.note(self.health.restore());
    }

    /// Closes idle connections and turns waiters away; those on loan close when they come back.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.discard_all(self.line.close());
        self.wake.up();
    }

    /// A connection for one exchange: an idle one, a fresh one, or the next that comes free.
    pub(super) fn lease(&self, deadline: Deadline, now: Instant) -> Result<Lease<'_>, PoolError> {
        loop {
            let grant = match self.line.try_acquire() {
                Some(outcome) => outcome,
                None => {
                    self.stats.waits.one();
                    self.line.acquire(deadline)
                }
            };
            if let Some(lease) = self.take_up(grant, deadline, now)? {
                return Ok(lease);
            }
        }
    }

    /// As [`Self::lease`], without waiting for other callers: `None` when every connection is in use.
    pub(super) fn try_lease(
        &self,
        deadline: Deadline,
        now: Instant,
    ) -> Result<Option<Lease<'_>>, PoolError> {
        while let Some(grant) = self.line.try_acquire() {
            if let Some(lease) = self.take_up(grant, deadline, now)? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// Makes a lease of a grant; `None` when the connection turned out to be unfit.
    fn take_up(
        &self,
        grant: Result<Grant<Live>, Denied>,
        deadline: Deadline,
        now: Instant,
    ) -> Result<Option<Lease<'_>>, PoolError> {
        match grant {
            Ok(Grant::Connection(live)) => {
                let idle = now.saturating_duration_since(live.used);
                let mut lease = Lease { pool: self, live: Some(live) };
                if idle >= IDLE_CHECK && !self.process.is_current() {
                    // The parent's socket: closing this process' copy of it sends nothing.
                    return Err(PoolError::Forked);
                }
                Ok(lease.is_fit(deadline, now).then_some(lease))
            }
            Ok(Grant::Dial) => self.dial(deadline).map(Some),
            Err(Denied::Exhausted) => {
                self.stats.exhausted.one();
                Err(PoolError::Exhausted)
            }
            Err(Denied::Down) => Err(PoolError::Down),
            Err(Denied::Closed) => Err(PoolError::Closed),
        }
    }

    /// Opens a connection, having been granted the right to; on the caller's thread, under its deadline.
    pub(super) fn dial(&self, deadline: Deadline) -> Result<Lease<'_>, PoolError> {
        if !self.process.is_current() {
            return Err(PoolError::Forked);
        }
        let right = DialRight { line: &self.line, used: false };
        // The line counts permits as r2d2 does, and r2d2 gets each back before the line hears of it.
        let permit = self.permits.take().ok_or(PoolError::Exhausted)?;
        let started = Instant::now();
        match self.dialer.dial(deadline) {
            Ok(stream) => {
                let now = Instant::now();
                self.stats.dials.one();
                let live = Live {
                    connection: Connection::new(stream, self.limits, now),
                    _permit: permit,
                    generation: self.generation.load(Ordering::Acquire),
                    expires: now + self.lifetime(),
                    used: now,
                    proven: false,
                };
                right.used();
                Ok(Lease { pool: self, live: Some(live) })
            }
            Err(e) => {
                drop(permit);
                drop(right);
                log::debug!("{}: connecting failed: {e:?}", self.name);
                if self.is_nodes_fault(&e, started.elapsed()) {
                    self.dial_failed();
                }
                Err(PoolError::Net(e))
            }
        }
    }

    /// Counts a connection that the node did not let come about.
    pub(super) fn dial_failed(&self) {
        self.stats.failed_dials.one();
        self.note(self.health.failed(Instant::now(), Failure::Dial));
    }

    /// Judges a failed exchange: what it says of the node and of its other sockets.
    pub(super) fn exchange_failed(&self, proven: bool, generation: u64, e: &NetError) {
        self.stats.failures.one();
        log::debug!("{}: exchange failed: {e:?}", self.name);
        match e.trouble {
            Trouble::TimedOut { silent } if silent >= SILENCE => {
                self.note(self.health.failed(Instant::now(), Failure::Silence));
            }
            _ if proven && e.is_lost() => self.retire(generation),
            _ => {}
        }
    }

    pub(super) fn exchange_done(&self) {
        self.stats.exchanges.one();
        self.note(self.health.succeeded());
    }

    /// Makes every socket up to this generation unfit.
    fn retire(&self, generation: u64) {
        // Only the first of those who find out moves the generation on.
        let _ = self.generation.compare_exchange(
            generation,
            generation + 1,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
    }

    /// Whether a failed dial speaks against the node, not against this process or a very short deadline.
    fn is_nodes_fault(&self, e: &NetError, took: Duration) -> bool {
        match &e.trouble {
            Trouble::TimedOut { .. } => took >= self.config.connect_timeout.min(SILENCE),
            // The machine has no free port, or no address of the family.
            Trouble::Io(io) if io.kind() == io::ErrorKind::AddrNotAvailable => false,
            _ => !e.is_own_shortage(),
        }
    }

    /// Acts on a change of the node's health.
    pub(super) fn note(&self, transition: Option<Transition>) {
        match transition {
            Some(Transition::WentDown { failure, .. }) => {
                log::warn!("{}: down after a {failure}; its calls fail at once", self.name);
                self.retire(self.generation.load(Ordering::Acquire));
                self.line.turn_away(Denied::Down);
                self.discard_all(self.line.take_idle(|_, _| true));
                self.wake.up();
            }
            Some(Transition::CameUp) => log::info!("{}: up again", self.name),
            _ => {}
        }
    }

    /// Drops connections outside every lock and counts them as gone.
    pub(super) fn discard_all(&self, gone: Vec<Live>) {
        for live in gone {
            drop(live);
            self.line.lost();
        }
    }

    /// Whether maintenance should close this idle connection, of which `stay` others would remain.
    pub(super) fn is_surplus(&self, live: &Live, stay: usize, now: Instant) -> bool {
        let above_min = stay >= usize::try_from(self.config.min_connections).unwrap_or(usize::MAX);
        self.is_outdated(live, now)
            || above_min && now.saturating_duration_since(live.used) > self.config.max_idle
    }

    fn is_outdated(&self, live: &Live, now: Instant) -> bool {
        live.generation != self.generation.load(Ordering::Acquire) || now >= live.expires
    }

    /// `max_lifetime` less up to a tenth, so that sockets opened together do not end together.
    fn lifetime(&self) -> Duration {
        let mut x = self.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let permille = u32::try_from((x >> 32) % 100).unwrap_or(0);
        self.config.max_lifetime / 1000 * (1000 - permille)
    }
}

impl Lease<'_> {
    /// The connection; `None` cannot happen before `finish`, which consumes the lease.
    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.live.as_mut().map(|live| &mut live.connection)
    }

    /// Whether it was used before, and its generation: what a failure on it says of the others.
    pub(super) fn history(&self) -> (bool, u64) {
        self.live.as_ref().map_or((false, 0), |live| (live.proven, live.generation))
    }

    /// Gives the connection back after a complete exchange, if the protocol says that it can be used again.
    pub(super) fn finish(mut self, now: Instant) {
        let Some(mut live) = self.live.take() else { return };
        live.used = now;
        live.proven = true;
        let back =
            if live.connection.is_reusable() { self.pool.line.give_back(live) } else { Some(live) };
        self.pool.discard_all(back.into_iter().collect());
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
            answers(&mut live.connection, within, now)
        } else {
            live.connection.is_quiet()
        };
        if !alive {
            pool.retire(live.generation);
        }
        alive
    }
}

/// A round trip: the server answers `version`.
pub(super) fn answers(connection: &mut Connection, deadline: Deadline, now: Instant) -> bool {
    let mut batch = Batch::new();
    batch.push(&Request::Version);
    connection.begin(&batch, now);
    connection.exchange(&mut batch, deadline, Duration::ZERO).is_ok() && connection.is_reusable()
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(live) = self.live.take() {
            drop(live);
            self.pool.line.lost();
        }
    }
}

/// The right to dial; dropped unused it counts as a failed dial, also when dialling panics.
struct DialRight<'p> {
    line: &'p Line<Live>,
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
            self.line.dial_failed();
        }
    }
}
