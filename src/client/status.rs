//! A snapshot of a client: every node's state, connections and counters.

use std::time::Instant;

use super::handle::Client;
use crate::health::NodeState;
use crate::pool::NodePool;

/// What a client looks like at one moment; see [`Client::status`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Every server, in the order given to the builder.
    pub servers: Vec<ServerStatus>,
    /// Calls that ended in an error since the client was built, with those turned into misses. A call for many
    /// keys counts once, a call with one result a server once for each that failed.
    pub failed_calls: u64,
    /// Errors that `errors_as_misses` turned into misses; in calls for many keys each key's.
    pub absorbed_errors: u64,
}

/// What one server's pool looks like at one moment; counters run since the client was built.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The name on the ring.
    pub name: String,
    /// The address without parameters.
    pub address: String,
    /// The weight.
    pub weight: u32,
    /// Up, suspect, down or out.
    pub state: NodeState,
    /// Connections open or being opened, in use and idle ones together.
    pub connections: usize,
    /// Connections that wait for a call.
    pub idle: usize,
    /// Callers that wait for a connection.
    pub waiting: usize,
    /// Requests that were answered; a call for many keys counts once for each server.
    pub exchanges: u64,
    /// Exchanges that failed on an open connection.
    pub failures: u64,
    /// Connections opened.
    pub dials: u64,
    /// Attempts to connect that failed, and connections lost before their first answer.
    pub failed_dials: u64,
    /// Callers that had to wait for a connection.
    pub waits: u64,
    /// Callers whose deadline passed while they waited.
    pub exhausted: u64,
    /// Calls turned away at once since the server was down.
    pub turned_away: u64,
    /// Requests sent again on a fresh connection.
    pub retries: u64,
    /// Calls of this server's keys that went on to another server.
    pub failovers: u64,
}

impl Client {
    /// A snapshot of every pool: states, connections, counters. Sends nothing.
    ///
    /// ```
    /// let client = mcpool::Client::new("127.0.0.1:11211")?;
    /// assert_eq!(client.status().servers[0].exchanges, 0);
    /// # Ok::<(), mcpool::Error>(())
    /// ```
    pub fn status(&self) -> Status {
        let timing = self.timing();
        // Only a child that can have no thread is left with its parent's.
        let router = self.own_router(timing.deadline).unwrap_or_else(|_| self.router());
        let nodes = router.nodes().iter();
        Status {
            servers: nodes.map(|node| server_status(node, timing.started)).collect(),
            failed_calls: self.counters().failed.read(),
            absorbed_errors: self.counters().absorbed.read(),
        }
    }
}

fn server_status(node: &NodePool, now: Instant) -> ServerStatus {
    let (counts, stats) = (node.counts(), node.stats());
    ServerStatus {
        name: node.name().to_string(),
        address: node.address().to_owned(),
        weight: node.weight(),
        state: node.state(now),
        connections: counts.open,
        idle: counts.idle,
        waiting: counts.waiting,
        exchanges: stats.exchanges.read(),
        failures: stats.failures.read(),
        dials: stats.dials.read(),
        failed_dials: stats.failed_dials.read(),
        waits: stats.waits.read(),
        exhausted: stats.exhausted.read(),
        turned_away: stats.turned_away.read(),
        retries: stats.retries.read(),
        failovers: stats.failovers.read(),
    }
}
