//! The pool's knobs, with their defaults.

use std::time::Duration;

/// Settings of one node's pool; the client's builder documents each.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    pub(crate) initial_connections: u32,
    pub(crate) min_connections: u32,
    pub(crate) max_connections: u32,
    pub(crate) max_idle: Duration,
    pub(crate) max_lifetime: Duration,
    pub(crate) max_dials: u32,
    pub(crate) maintenance_interval: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) alive_check: bool,
    pub(crate) nodelay: bool,
    pub(crate) keepalive: bool,
    pub(crate) busy_poll: Duration,
    pub(crate) max_reply_value: usize,
    pub(crate) share: bool,
    pub(crate) share_target: u32,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            initial_connections: 0,
            min_connections: 1,
            max_connections: 32,
            max_idle: Duration::from_secs(5 * 60),
            max_lifetime: Duration::from_secs(30 * 60),
            max_dials: 2,
            maintenance_interval: Duration::from_secs(30),
            connect_timeout: Duration::from_millis(250),
            alive_check: false,
            nodelay: true,
            keepalive: true,
            busy_poll: Duration::ZERO,
            max_reply_value: 128 * 1024 * 1024,
            share: true,
            share_target: 2,
        }
    }
}
