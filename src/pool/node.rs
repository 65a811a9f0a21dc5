//! One node's pool: its parts and figures, and what its successes and failures say of its health.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::blame::Blame;
use super::config::PoolConfig;
use super::crowd::Crowd;
use super::error::PoolError;
use super::lease::Live;
use super::line::{Counts, Line, Use};
use super::patience::Patience;
use super::permits::{Permits, Worker};
use super::process::Process;
use super::shared::{Arrival, Rider};
use super::ticket::Denied;
use super::wake::Wake;
use crate::health::{Failure, Gate, Health, NodeState, Rules, Transition};
use crate::net::{DialOptions, Dialer, NetError, Trouble};
use crate::protocol::Limits;
use crate::stats::NodeStats;
use crate::time::{Deadline, Jitter};
use crate::types::Server;

/// A time-out counts against the node only when it was silent for this long, or for half of what the settings give
/// one attempt: a call with less time than that, by its own choice or after waiting, shows nothing.
const SILENCE: Duration = Duration::from_millis(200);
/// The same for connecting, which needs no more than the network's round trip.
const NO_HANDSHAKE: Duration = Duration::from_millis(50);

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

/// The line of a node's callers.
pub(super) type NodeLine = Line<Live, Rider, Arrival>;

/// One node: its connections, its health, its counters.
#[derive(Debug)]
pub(crate) struct NodePool {
    name: Arc<str>,
    address: Arc<str>,
    weight: u32,
    pub(super) dialer: Dialer,
    pub(super) limits: Limits,
    silence: Duration,
    pub(super) config: PoolConfig,
    pub(super) health: Health,
    pub(super) blame: Blame,
    pub(super) line: NodeLine,
    pub(super) patience: Patience,
    pub(super) permits: Permits,
    stats: NodeStats,
    /// Sockets of an older generation are closed as they are met: the server was restarted, or went down.
    generation: AtomicU64,
    closed: AtomicBool,
    pub(super) process: Process,
    seed: AtomicU64,
    wake: Wake,
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
        let share = usize::try_from(config.share_target).unwrap_or(usize::MAX);
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Some(Self {
            name: server.name().into(),
            address: server.address().into(),
            weight: server.weight(),
            dialer: Dialer::new(server.endpoint(), options, worker.spawner()),
            limits: Limits { max_value_bytes: config.max_reply_value, ..Limits::default() },
            silence: SILENCE.min(io_timeout / 2),
            config: config.clone(),
            health: Health::new(health, seed),
            blame: Blame::default(),
            line: Line::new(max, max_dials, Crowd::new(share, processors)),
            patience: Patience::default(),
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
                Err(if self.is_closed() { PoolError::Closed } else { self.down(now) })
            }
        }
    }

    /// What it is to a call that the node is down.
    pub(super) fn down(&self, now: Instant) -> PoolError {
        PoolError::Down(self.blame.seen(now))
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

    /// Counts a connection that the node did not let come about.
    pub(super) fn dial_failed(&self, e: &NetError) {
        self.tell(self.judge_dial(e));
    }

    /// As [`Self::dial_failed`]; what came of it is left to be [told](Self::tell).
    pub(super) fn judge_dial(&self, e: &NetError) -> Option<Transition> {
        self.stats.failed_dials.one();
        self.failed(Failure::Dial, e)
    }

    /// Counts a failure against the node and keeps what it was.
    fn failed(&self, failure: Failure, e: &NetError) -> Option<Transition> {
        let now = Instant::now();
        // Before anyone can be turned away because of it.
        self.blame.put(now, e);
        self.act(self.health.failed(now, failure))
    }

    /// Tells the log of a failed exchange; as [`Self::tell`], with nothing in hand.
    pub(super) fn exchange_failed(&self, change: Option<Transition>, e: &NetError) {
        self.tell(change);
        log::debug!("{}: exchange failed: {e:?}", self.name);
    }

    /// Judges a failed exchange: what it says of the node and of its other sockets. What came of it is left to be
    /// [told](Self::tell).
    pub(super) fn judge(&self, proven: bool, generation: u64, e: &NetError) -> Option<Transition> {
        self.stats.failures.one();
        match e.trouble {
            // The node went down since, or was restarted: what was begun before says nothing of it as it is now.
            _ if generation != self.generation() => None,
            _ if self.is_silence(e) => self.failed(Failure::Silence, e),
            // One that worked before was closed while it lay idle, or the server was restarted: the others went with it.
            _ if proven && e.is_lost() => {
                self.retire(generation);
                None
            }
            // A server that hangs up on fresh connections is as good as one that refuses them.
            _ if e.is_lost() => self.judge_dial(e),
            _ => None,
        }
    }

    /// Whether it is a silence so long that it says something of the node.
    pub(super) fn is_silence(&self, e: &NetError) -> bool {
        matches!(e.trouble, Trouble::TimedOut { silent } if silent >= self.silence)
    }

    pub(super) fn exchange_done(&self, replies: u64) {
        self.stats.exchanges.add(replies);
        self.note(self.health.succeeded());
    }

    /// What answers say that came before their exchange was complete; it is left to be [told](Self::tell).
    pub(super) fn judge_answers(&self, replies: u64) -> Option<Transition> {
        self.stats.exchanges.add(replies);
        if replies > 0 { self.act(self.health.succeeded()) } else { None }
    }

    /// The generation that sockets opened now belong to.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes every socket up to this generation unfit.
    pub(super) fn retire(&self, generation: u64) {
        // Only the first of those who find out moves the generation on.
        let _ = self.generation.compare_exchange(
            generation,
            generation + 1,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
    }

    /// Whether a failed dial speaks against the node, not against this process or a very short deadline.
    pub(super) fn is_nodes_fault(&self, e: &NetError, took: Duration) -> bool {
        match &e.trouble {
            Trouble::TimedOut { .. } => {
                took >= self.config.connect_timeout.min(self.silence).min(NO_HANDSHAKE)
            }
            // The machine has no free port, or no address of the family.
            Trouble::Io(io) if io.kind() == io::ErrorKind::AddrNotAvailable => false,
            _ => !e.is_own_shortage(),
        }
    }

    /// Acts on a change of the node's health and tells of it.
    pub(super) fn note(&self, transition: Option<Transition>) {
        self.tell(self.act(transition));
    }

    /// Acts on a change of the node's health.
    fn act(&self, transition: Option<Transition>) -> Option<Transition> {
        if let Some(Transition::WentDown { .. }) = transition {
            self.retire(self.generation());
            self.line.turn_away(Denied::Down);
            self.discard_all(self.line.take_idle(|_, _| true));
            self.wake.up();
        }
        transition
    }

    /// Tells the log of a change. It is the user's code: nothing that others wait for may be in hand.
    pub(super) fn tell(&self, transition: Option<Transition>) {
        match transition {
            Some(Transition::WentDown { failure, .. }) => {
                log::warn!("{}: down after a {failure}; its calls fail at once", self.name);
            }
            Some(Transition::CameUp) => log::info!("{}: up again", self.name),
            None => {}
        }
    }

    /// Drops connections outside every lock and counts them as gone.
    pub(super) fn discard_all(&self, gone: Vec<Live>) {
        for live in gone {
            drop(live);
            self.line.lost(Use::Alone);
        }
    }

    /// Whether maintenance should close this idle connection, of which `stay` others would remain.
    pub(super) fn is_surplus(&self, live: &Live, stay: usize, now: Instant) -> bool {
        let above_min = stay >= usize::try_from(self.config.min_connections).unwrap_or(usize::MAX);
        self.is_outdated(live, now)
            || above_min && now.saturating_duration_since(live.used) > self.config.max_idle
    }

    pub(super) fn is_outdated(&self, live: &Live, now: Instant) -> bool {
        live.generation != self.generation() || now >= live.expires
    }

    /// `max_lifetime` less up to a tenth, so that sockets opened together do not end together.
    pub(super) fn lifetime(&self) -> Duration {
        let mut jitter = Jitter::new(self.seed.fetch_add(1, Ordering::Relaxed));
        self.config.max_lifetime - jitter.below(self.config.max_lifetime / 10)
    }
}
