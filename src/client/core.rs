//! What all handles of a client share, and its replacement in a forked child.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;

use super::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::health::Rules;
use crate::pool::{Maintenance, NodePool, NodeSetup, Process, Worker};
use crate::ring::Ring;
use crate::router::Router;
use crate::stats::ClientStats;
use crate::time::Deadline;
use crate::types::Server;

/// Pools, threads and counters of a client, for one process.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) router: Router,
    pub(super) stats: ClientStats,
    closed: Arc<AtomicBool>,
    /// Fills the permits and looks up names; ends with the client.
    worker: Worker,
    process: Process,
    /// What a forked child uses in place of this; the parent never has one.
    successor: OnceLock<Box<Core>>,
    building: Mutex<()>,
}

impl Core {
    /// Checks the settings and sets everything up by `deadline`; connects to nothing.
    pub(super) fn new(config: Config, closed: Arc<AtomicBool>, deadline: Deadline) -> Result<Self> {
        let servers = config.checked()?;
        let ring = Ring::of(config.placement, &servers).map_err(|e| Error::config("servers", e))?;
        let worker = Worker::new().map_err(no_thread)?;
        let nodes = nodes(&config, &servers, &worker, deadline)?;
        let router = Router::new(nodes, ring, config.failover, config.attempt_timeout);
        Ok(Self {
            config,
            router,
            stats: ClientStats::default(),
            closed,
            worker,
            process: Process::current(),
            successor: OnceLock::new(),
            building: Mutex::new(()),
        })
    }

    /// The core as far as is known; in a child that has not noticed the fork, its parent's.
    pub(super) fn latest(&self) -> &Self {
        self.successor.get().map_or(self, |next| next.latest())
    }

    /// The core of this process; in a forked child it is made at the first need.
    ///
    /// The parent's pools are left alone: nothing is written to its sockets, and no lock of theirs is
    /// taken, since a thread that exists no more may have held it.
    pub(super) fn own(&self, deadline: Deadline) -> Result<&Self> {
        let core = self.latest();
        if core.process.is_current() {
            return Ok(core);
        }
        let late = || Error::new(ErrorKind::Timeout, "setting up anew after a fork took too long");
        let _building = core.building.try_lock_until(deadline.instant()).ok_or_else(late)?;
        if core.successor.get().is_none() {
            let next = core.anew(deadline)?;
            // Nobody else sets it: the lock is held.
            let _ = core.successor.set(Box::new(next));
        }
        Ok(core.latest())
    }

    /// The same for this process, a forked child.
    ///
    /// What the permits stand on may have inherited a list of the parent's waiting threads, in which a wake-up
    /// gets lost; then another attempt is made, of three, within the deadline.
    fn anew(&self, deadline: Deadline) -> Result<Self> {
        let by = |share: u32| {
            let now = Instant::now();
            let attempt = Deadline::after(now, deadline.left(now) / share);
            Self::new(self.config.clone(), self.closed.clone(), attempt)
        };
        by(4).or_else(|_| by(3)).or_else(|_| by(2))
    }

    /// Runs a call; in a forked child on the child's own core.
    pub(super) fn run<T>(
        &self,
        mut call: impl FnMut(&Self) -> Result<T>,
        deadline: Deadline,
    ) -> Result<T> {
        if self.config.fork_check {
            return call(self.own(deadline)?);
        }
        let core = self.latest();
        call(core).or_else(|e| {
            if core.process.is_current() || e.may_have_been_applied() {
                return Err(e);
            }
            call(self.own(deadline)?)
        })
    }

    pub(super) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::Closed, "the client was closed"));
        }
        Ok(())
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let core = self.latest();
        if core.process.is_current() {
            core.router.nodes().iter().for_each(|node| node.close());
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // A child only forgets its parent's pools: their locks may be held by threads that are no more.
            self.router.nodes().iter().cloned().for_each(std::mem::forget);
            std::mem::forget(self.worker.clone());
        }
    }
}

/// The nodes' pools, and the thread that tends them.
fn nodes(
    config: &Config,
    servers: &[Server],
    worker: &Worker,
    deadline: Deadline,
) -> Result<Vec<Arc<NodePool>>> {
    let (maintenance, wake) = Maintenance::new();
    let io_timeout = match servers.len() {
        1 => config.timeout,
        _ => config.attempt_timeout.unwrap_or(config.timeout / 2),
    };
    let health = Rules {
        down_after: config.down_after,
        back_off: config.back_off,
        failback: config.failback,
        lone: servers.len() == 1,
    };
    let pools = servers.iter().map(|server| {
        let setup = NodeSetup {
            server,
            config: &config.pool,
            io_timeout,
            health,
            seed: seed(server),
            worker,
            deadline,
            wake: wake.clone(),
        };
        NodePool::new(setup).map(Arc::new).ok_or_else(|| {
            Error::new(ErrorKind::OutOfResources, "the worker thread did not start in time")
        })
    });
    let pools = pools.collect::<Result<Vec<_>>>()?;
    let interval = config.pool.maintenance_interval;
    if !interval.is_zero() {
        maintenance
            .start(pools.iter().map(Arc::downgrade).collect(), interval)
            .map_err(no_thread)?;
    }
    Ok(pools)
}

fn no_thread(e: std::io::Error) -> Error {
    Error::new(ErrorKind::OutOfResources, format!("no thread can be started: {e}")).with_source(e)
}

/// Something to tell jitter sequences apart by, across servers and processes.
fn seed(server: &Server) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(server.name())
}
