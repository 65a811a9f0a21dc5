//! r2d2 as the keeper of permits: one empty slot for each connection that may be open.
//!
//! r2d2 hands out and takes back slots, and nothing else: its `connect` makes an empty slot at once, it
//! never tests, times out or retires anything, and nobody waits inside it. The borrower of a slot does
//! the dialling, under its own deadline.

use std::convert::Infallible;
use std::fmt;
use std::panic::catch_unwind;
use std::sync::Arc;

use crossbeam_channel::bounded;
use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};

use crate::net::Spawn;
use crate::time::Deadline;

/// The permits of one node.
pub(crate) struct Permits(Pool<Slots>);

/// The right to have one connection open; dropping it gives it back.
pub(crate) struct Permit {
    _slot: PooledConnection<Slots>,
}

/// The thread that fills the slots and looks up names, one for all nodes of a client.
#[derive(Clone)]
pub(crate) struct Worker(Arc<ScheduledThreadPool>);

/// Makes empty slots.
#[derive(Debug)]
struct Slots;

impl ManageConnection for Slots {
    type Connection = ();
    type Error = Infallible;

    fn connect(&self) -> Result<(), Infallible> {
        Ok(())
    }

    fn is_valid(&self, (): &mut ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, (): &mut ()) -> bool {
        false
    }
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(crate) fn new() -> std::io::Result<Self> {
        // The builder panics where no thread can be started, so one is tried first.
        std::thread::Builder::new().name("mcpool-trial".to_owned()).spawn(|| {})?;
        let build = || {
            ScheduledThreadPool::builder()
                .num_threads(1)
                .thread_name_pattern("mcpool-worker")
                .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
                .build()
        };
        let pool = catch_unwind(build).map_err(|_| std::io::Error::other("no thread is left"));
        pool.map(|pool| Self(Arc::new(pool)))
    }

    /// A door for jobs that does not keep the thread alive.
    pub(crate) fn spawner(&self) -> Spawn {
        let pool = Arc::downgrade(&self.0);
        Arc::new(move |job| {
            if let Some(pool) = pool.upgrade() {
                pool.execute(job);
            }
        })
    }
}

impl Permits {
    /// Makes `max` permits; `None` if the worker does not get to it by `deadline`.
    pub(crate) fn new(max: u32, worker: &Worker, deadline: Deadline) -> Option<Self> {
        let pool = Pool::builder()
            .max_size(max)
            .min_idle(Some(max))
            .test_on_check_out(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .error_handler(Box::new(NopErrorHandler))
            .thread_pool(worker.0.clone())
            .build_unchecked(Slots);
        // r2d2's own wait would wake this thread for every slot; a job behind those that fill them does so once.
        while pool.state().connections < max {
            let (done, filled) = bounded(1);
            worker.0.execute(move || _ = done.send(()));
            filled.recv_deadline(deadline.instant()).ok()?;
        }
        Some(Self(pool))
    }

    /// A permit, if one is free; never waits.
    pub(crate) fn take(&self) -> Option<Permit> {
        self.0.try_get().map(|slot| Permit { _slot: slot })
    }
}

impl fmt::Debug for Permits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permits(max {})", self.0.max_size())
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn there_are_as_many_permits_as_asked_for_and_each_comes_back() {
        let worker = Worker::new().expect("a thread");
        let deadline = Deadline::after(Instant::now(), Duration::from_secs(20));
        let permits = Permits::new(3, &worker, deadline).expect("filled");
        let taken: Vec<_> = (0..3).map(|_| permits.take().expect("free")).collect();
        assert!(permits.take().is_none());
        drop(taken);
        assert!(permits.take().is_some());
    }
}
