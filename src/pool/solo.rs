//! A pool of one connection, for the tests of this room.

use std::time::{Duration, Instant};

use super::config::PoolConfig;
use super::maintenance::Maintenance;
use super::node::{NodePool, NodeSetup};
use super::permits::Worker;
use crate::health::{BackOff, DownAfter, Rules};
use crate::time::Deadline;
use crate::types::Server;

/// A lone server's, which no failure takes out.
pub(super) fn pool(address: &str) -> NodePool {
    let config = PoolConfig { max_connections: 1, ..PoolConfig::default() };
    let health = Rules {
        down_after: DownAfter::new(1000, Duration::from_secs(10)),
        back_off: BackOff::new(Duration::from_millis(200), Duration::from_secs(2)),
        failback: true,
        lone: true,
    };
    let setup = NodeSetup {
        server: &Server::new(address).expect("an address"),
        config: &config,
        io_timeout: Duration::from_secs(20),
        health,
        seed: 1,
        worker: &Worker::new().expect("a thread"),
        deadline: Deadline::after(Instant::now(), Duration::from_secs(20)),
        wake: Maintenance::new().1,
    };
    NodePool::new(setup).expect("permits")
}
