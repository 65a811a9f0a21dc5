//! Counters that the rooms add to and `status` reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// One counter; adding is a relaxed atomic and never waits.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What happened at one node since the client was built.
#[derive(Debug, Default)]
pub(crate) struct NodeStats {
    /// Requests that were answered; a batch counts once.
    pub(crate) exchanges: Counter,
    /// Exchanges that failed after a connection was there.
    pub(crate) failures: Counter,
    /// Connections opened.
    pub(crate) dials: Counter,
    /// Attempts to connect that failed, and connections lost before their first answer.
    pub(crate) failed_dials: Counter,
    /// Callers that had to wait for a connection.
    pub(crate) waits: Counter,
    /// Callers whose deadline passed while they waited.
    pub(crate) exhausted: Counter,
    /// Calls turned away at once since the node was down.
    pub(crate) turned_away: Counter,
    /// Requests sent again on a fresh connection.
    pub(crate) retries: Counter,
    /// Calls of this node's keys that went on to another node.
    pub(crate) failovers: Counter,
}

/// What happened in one client.
#[derive(Debug, Default)]
pub(crate) struct ClientStats {
    /// Calls that ended in an error.
    pub(crate) failed: Counter,
    /// Errors that `errors_as_misses` turned into misses.
    pub(crate) absorbed: Counter,
}
