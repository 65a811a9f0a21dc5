//! Every setting with its default, and the rules that settings have to keep together.

use std::fmt;
use std::time::Duration;

use super::observer::Observer;
use crate::codec::{Codec, Settings};
use crate::error::{Error, Result};
use crate::health::{BackOff, DownAfter};
use crate::pool::PoolConfig;
use crate::ring::Placement;
use crate::router::Failover;
use crate::types::{KeyRules, Server, ServerList};

/// No process has more ports to one server, and each permit takes memory from the start.
const MOST_CONNECTIONS: u32 = 65_535;

/// The settings of a client; the builder's methods document each.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) servers: ServerList,
    pub(crate) pool: PoolConfig,
    pub(crate) timeout: Duration,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) max_busy: Duration,
    pub(crate) failover: Failover,
    pub(crate) failback: bool,
    pub(crate) down_after: DownAfter,
    pub(crate) back_off: BackOff,
    pub(crate) placement: Placement,
    pub(crate) codec: Codec,
    pub(crate) values: Settings,
    pub(crate) keys: KeyRules,
    pub(crate) max_value_bytes: Option<usize>,
    pub(crate) errors_as_misses: bool,
    pub(crate) observer: Option<Observer>,
    pub(crate) fork_check: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            servers: ServerList::default(),
            pool: PoolConfig::default(),
            timeout: Duration::from_secs(1),
            attempt_timeout: None,
            max_busy: Duration::from_secs(30),
            failover: Failover::default(),
            failback: true,
            down_after: DownAfter::default(),
            back_off: BackOff::default(),
            placement: Placement::default(),
            codec: Codec::default(),
            values: Settings::default(),
            keys: KeyRules::default(),
            max_value_bytes: None,
            errors_as_misses: false,
            observer: None,
            fork_check: false,
        }
    }
}

impl Config {
    /// Checks every setting, and gives the servers.
    pub(crate) fn checked(&self) -> Result<Vec<Server>> {
        self.check_times()?;
        self.check_connections()?;
        self.keys.check_prefix().map_err(|e| Error::config("key_prefix", e))?;
        self.checked_servers()
    }

    /// Checks a deadline for whole calls; also that of a handle made by `with_timeout`.
    pub(crate) fn check_timeout(&self, timeout: Duration) -> Result<()> {
        if timeout.is_zero() {
            return Err(Error::config("timeout", "has to be above zero"));
        }
        if timeout > self.max_busy {
            let why = format!("{timeout:?} is above `max_busy`, {:?}", self.max_busy);
            return Err(Error::config("timeout", why));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<()> {
        self.check_timeout(self.timeout)?;
        for (name, value) in [
            ("connect_timeout", self.pool.connect_timeout),
            ("attempt_timeout", self.attempt_timeout.unwrap_or(self.timeout)),
            ("max_idle", self.pool.max_idle),
            ("max_lifetime", self.pool.max_lifetime),
        ] {
            if value.is_zero() {
                return Err(Error::config(name, "has to be above zero"));
            }
        }
        if self.down_after.within().is_zero() {
            return Err(Error::config("down_after", "its time has to be above zero"));
        }
        if self.back_off.first().is_zero() {
            return Err(Error::config("back_off", "its first pause has to be above zero"));
        }
        Ok(())
    }

    fn check_connections(&self) -> Result<()> {
        let pool = &self.pool;
        let max = pool.max_connections;
        if max == 0 {
            return Err(Error::config("max_connections", "has to be above zero"));
        }
        if max > MOST_CONNECTIONS {
            let why = format!("{max} is above {MOST_CONNECTIONS}");
            return Err(Error::config("max_connections", why));
        }
        if pool.max_dials == 0 {
            return Err(Error::config("max_dials", "has to be above zero"));
        }
        if pool.share_target == 0 {
            return Err(Error::config("share_target", "has to be above zero; see `share`"));
        }
        for (name, value) in [
            ("min_connections", pool.min_connections),
            ("initial_connections", pool.initial_connections),
        ] {
            if value > max {
                let why = format!("{value} is above `max_connections`, {max}");
                return Err(Error::config(name, why));
            }
        }
        if self.max_value_bytes == Some(0) {
            return Err(Error::config("max_value_bytes", "has to be above zero"));
        }
        Ok(())
    }

    fn checked_servers(&self) -> Result<Vec<Server>> {
        let servers = self.servers.0.iter().cloned().collect::<Result<Vec<_>, _>>()?;
        if servers.is_empty() {
            return Err(Error::config("servers", "at least one is needed"));
        }
        servers.iter().try_for_each(Server::check)?;
        if let Some(server) = Server::repeated(&servers) {
            return Err(Error::config("servers", format!("`{server}` is there twice")));
        }
        Ok(servers)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("servers", &self.servers)
            .field("pool", &self.pool)
            .field("timeout", &self.timeout)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("max_busy", &self.max_busy)
            .field("failover", &self.failover)
            .field("failback", &self.failback)
            .field("down_after", &self.down_after)
            .field("back_off", &self.back_off)
            .field("placement", &self.placement)
            .field("codec", &self.codec)
            .field("primitives_as_strings", &self.values.primitives_as_strings)
            .field("compress_above", &self.values.compress_above)
            .field("keys", &self.keys)
            .field("max_value_bytes", &self.max_value_bytes)
            .field("errors_as_misses", &self.errors_as_misses)
            .field("observer", &self.observer.is_some())
            .field("fork_check", &self.fork_check)
            .finish()
    }
}
