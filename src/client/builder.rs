//! The builder: one method a setting, each with its meaning, unit and default.

use std::fmt;
use std::time::Duration;

use super::config::Config;
use super::handle::Client;
use super::observer::Observer;
use crate::codec::Codec;
use crate::error::{Error, Result};
use crate::health::{BackOff, DownAfter};
use crate::interop::Preset;
use crate::ring::Placement;
use crate::router::Failover;
use crate::types::{LongKeys, ServerList};

/// Settings of a [`Client`], each with a default; [`build`](Self::build) checks them all and connects to nothing.
///
/// ```
/// use std::time::Duration;
/// let client = mcpool::Client::builder()
///     .servers(["10.0.0.1:11211", "10.0.0.2:11211?weight=2"])
///     .min_connections(5)
///     .max_connections(250)
///     .timeout(Duration::from_secs(3))
///     .build()?;
/// # let _ = client;
/// # Ok::<(), mcpool::Error>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct ClientBuilder {
    config: Config,
    by_hand: ByHand,
}

/// Which of the settings that a preset has were set by themselves, and stay.
#[derive(Clone, Copy, Default)]
struct ByHand {
    codec: bool,
    placement: bool,
    sanitize_keys: bool,
    hash_prefix: bool,
    long_keys: bool,
}

impl ClientBuilder {
    /// The servers: address texts or [`Server`](crate::Server)s, one or several; replaces what was set before. Required.
    ///
    /// Their order, names and weights decide where keys live, as [`Placement`] says. The same name or address
    /// twice is an error at [`build`](Self::build).
    pub fn servers(mut self, servers: impl Into<ServerList>) -> Self {
        self.config.servers = servers.into();
        self
    }

    /// Connections opened to each server in the background at build (default 0; Whalin's `initConn`).
    ///
    /// The maintenance thread opens them; without one, [`Client::warm_up`] does.
    pub fn initial_connections(mut self, n: u32) -> Self {
        self.config.pool.initial_connections = n;
        self
    }

    /// Connections that maintenance keeps open to each live server (default 1; Whalin's `minConn`).
    pub fn min_connections(mut self, n: u32) -> Self {
        self.config.pool.min_connections = n;
        self
    }

    /// The most connections ever open to one server (default 32, 65 535 at most; Whalin's `maxConn`, here a hard cap).
    ///
    /// A caller that finds them all in use waits, in the order of arrival and within its deadline.
    pub fn max_connections(mut self, n: u32) -> Self {
        self.config.pool.max_connections = n;
        self
    }

    /// How long a connection above the minimum may stay idle (default 5 minutes; Whalin's `maxIdle`).
    pub fn max_idle(mut self, d: Duration) -> Self {
        self.config.pool.max_idle = d;
        self
    }

    /// How long any connection is used before it is replaced, less a jitter of up to a tenth (default 30 minutes).
    pub fn max_lifetime(mut self, d: Duration) -> Self {
        self.config.pool.max_lifetime = d;
        self
    }

    /// The ceiling for `timeout`; a longer one is a configuration error (default 30 s; Whalin's `maxBusyTime`).
    ///
    /// It also holds for [`Client::with_timeout`].
    pub fn max_busy(mut self, d: Duration) -> Self {
        self.config.max_busy = d;
        self
    }

    /// The pause between two passes of maintenance (default 30 s; Whalin's `maintSleep`).
    ///
    /// Zero: no maintenance thread. Then nothing is topped up or trimmed, and a down server is probed by
    /// the first call after its back-off.
    pub fn maintenance_interval(mut self, d: Duration) -> Self {
        self.config.pool.maintenance_interval = d;
        self
    }

    /// The deadline of a whole call: waiting, connecting, writing, reading, other servers (default 1 s; Whalin's `socketTO`).
    ///
    /// Above zero. A call may end up to 20 ms later, which saves a system call in each.
    pub fn timeout(mut self, d: Duration) -> Self {
        self.config.timeout = d;
        self
    }

    /// The part of the deadline that one server may use while another can still be tried (default half of what is left).
    ///
    /// It begins when the call has its turn: waiting for a free connection is bounded by the deadline alone.
    ///
    /// Only for calls that do no harm when sent twice: reads, `set`, `touch`. The others have the whole deadline,
    /// since they go to no other server once they were sent. Above zero.
    pub fn attempt_timeout(mut self, d: Duration) -> Self {
        self.config.attempt_timeout = Some(d);
        self
    }

    /// The part of the deadline that connecting may use (default 250 ms; Whalin's `socketConnectTO`).
    ///
    /// It covers looking up the name and all of its addresses. Above zero.
    pub fn connect_timeout(mut self, d: Duration) -> Self {
        self.config.pool.connect_timeout = d;
        self
    }

    /// Sends a `get` over a socket that was idle for a second before using it (default off; Whalin's `aliveCheck`).
    ///
    /// Without it such a socket is only looked at, which finds closed ones at the cost of one system call.
    pub fn alive_check(mut self, on: bool) -> Self {
        self.config.pool.alive_check = on;
        self
    }

    /// Sets `TCP_NODELAY`: small requests leave at once (default on; Whalin's `nagle`, which it applied inverted).
    ///
    /// Of no effect on unix sockets.
    pub fn nodelay(mut self, on: bool) -> Self {
        self.config.pool.nodelay = on;
        self
    }

    /// Sets `SO_KEEPALIVE`: the system finds out when an idle peer has vanished (default on). Of no effect on unix sockets.
    pub fn keepalive(mut self, on: bool) -> Self {
        self.config.pool.keepalive = on;
        self
    }

    /// What happens to a call whose server fails (default [`Failover::NextServer`]; Whalin's `failover`).
    pub fn failover(mut self, failover: Failover) -> Self {
        self.config.failover = failover;
        self
    }

    /// Whether a server that was down is used again by itself (default on; Whalin's `failback`).
    ///
    /// Off: it stays out until [`Client::restore`]. A lone server is always used again.
    pub fn failback(mut self, on: bool) -> Self {
        self.config.failback = on;
        self
    }

    /// Which server a key lives on (default [`Placement::Consistent`]; Whalin's `hashingAlg`).
    pub fn placement(mut self, placement: Placement) -> Self {
        self.config.placement = placement;
        self.by_hand.placement = true;
        self
    }

    /// How values become bytes and flags (default [`Codec::Json`]).
    pub fn codec(mut self, codec: Codec) -> Self {
        self.config.codec = codec;
        self.by_hand.codec = true;
        self
    }

    /// Stores numbers, booleans and chars under the string flag, so that any client reads them as strings
    /// (default off; Whalin's `primitiveAsString`).
    pub fn primitives_as_strings(mut self, on: bool) -> Self {
        self.config.values.primitives_as_strings = on;
        self
    }

    /// Compresses values of more than this many bytes as the codec's client does, and of never less than 64
    /// (default: never; Whalin's `compressEnable` and `compressThreshold`, which were on and 30 KiB).
    ///
    /// A value stays plain when compression would not make it smaller, or not by as much as the codec's client
    /// asks for. [`Codec::Raw`], [`Codec::Custom`], [`Codec::Gomemcache`] and [`Codec::RustMemcache`] compress
    /// nothing; neither do `set_raw`, `append`, `prepend` and counters. Compressed values are read whatever the
    /// setting.
    ///
    /// `append` and `prepend` cannot see whether the stored value is compressed, and would ruin it; with this
    /// setting they are refused as [`ErrorKind::Encode`](crate::ErrorKind::Encode). Where all values under a
    /// key are known to be plain, `client.with_codec(Codec::Raw)` still does them. Without this setting, be
    /// sure that no other client compresses what is appended to.
    #[cfg(feature = "compression")]
    pub fn compress_above(mut self, bytes: usize) -> Self {
        self.config.values.compress_above = Some(bytes);
        self
    }

    /// URL-encodes keys as Whalin's client does by default (default off; Whalin's `sanitizeKeys`).
    ///
    /// Letters, digits and `.-*_` stay, a space becomes `+`, every other byte `%XX`. The prefix is not encoded,
    /// and the 250 bytes are counted after encoding.
    pub fn sanitize_keys(mut self, on: bool) -> Self {
        self.config.keys.sanitize = on;
        self.by_hand.sanitize_keys = true;
        self
    }

    /// Put before every key, once and as it is; it counts toward the 250 bytes (default none).
    pub fn key_prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.config.keys.prefix = prefix.into();
        self
    }

    /// Whether the prefix takes part in choosing a key's server (default on).
    ///
    /// Off, a key lives where it would live without the prefix: as in libmemcached and PHP unless
    /// `HASH_WITH_PREFIX_KEY` is set, in pymemcache and in Perl, whose presets turn it off.
    pub fn hash_prefix(mut self, on: bool) -> Self {
        self.config.keys.hash_without_prefix = !on;
        self.by_hand.hash_prefix = true;
        self
    }

    /// What becomes of a key that is too long for memcached (default [`LongKeys::Refuse`]).
    pub fn long_keys(mut self, rule: LongKeys) -> Self {
        self.config.keys.long = rule;
        self.by_hand.long_keys = true;
        self
    }

    /// Turns outages into misses, for cache-aside code (default off).
    ///
    /// Only failures of nodes and of time: reads give `None`, `set` gives `()`, other stores, deletes and
    /// touches `false`, cas `Missing`, counters `None`. Bad keys, sizes and values remain errors, and so do those
    /// of calls with one result a server. All are counted in [`Client::status`] and told to the observer.
    pub fn errors_as_misses(mut self, on: bool) -> Self {
        self.config.errors_as_misses = on;
        self
    }

    /// Told once of each failed call, on the caller's thread, with nothing locked (default none; Whalin's `errorHandler`).
    ///
    /// A call for many keys tells its first error, a call with one result a server the error of each that failed.
    /// It may use the client: it is not told of the calls that it makes itself. A panic in it comes out of the
    /// failed call, whose result is lost; connections, places and other callers are not concerned.
    pub fn observer(mut self, observer: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.config.observer = Some(Observer::new(observer));
        self
    }

    /// The largest value, in bytes: a larger one is refused before anything is sent, and a larger reply
    /// closes the connection (default: the server decides on stores, 128 MiB for replies).
    pub fn max_value_bytes(mut self, n: usize) -> Self {
        self.config.max_value_bytes = Some(n);
        self
    }

    /// Whether callers that find no connection free share one (default true).
    ///
    /// Their requests go out together, and each gets its own reply. Only requests for one key travel so, stores only with values
    /// up to 12 KiB. Without it, each caller waits for a connection of its own, up to [`max_connections`](Self::max_connections).
    pub fn share(mut self, on: bool) -> Self {
        self.config.pool.share = on;
        self
    }

    /// How many connections to a server are shared by more than four callers at once (default 2), `max_connections` at most.
    ///
    /// Up to four callers have one each. Where an exchange takes less than 150 µs, fewer are shared: one for every two processors of
    /// this machine. More are opened while these are slow, and for large values and calls for many keys.
    pub fn share_target(mut self, n: u32) -> Self {
        self.config.pool.share_target = n;
        self
    }

    /// Connects in progress to one server at most, so that a restarted server is not stormed (default 2).
    pub fn max_dials(mut self, n: u32) -> Self {
        self.config.pool.max_dials = n;
        self
    }

    /// Looks for the reply this long, yielding the processor, before it lets the kernel wait (default zero: off).
    ///
    /// It spends processor time to save the wake-up, for latency-bound tools on idle machines. Calls for many keys
    /// do not look.
    pub fn busy_poll(mut self, d: Duration) -> Self {
        self.config.pool.busy_poll = d;
        self
    }

    /// The failures after which a server counts as down (default 3 within 10 s).
    pub fn down_after(mut self, rule: DownAfter) -> Self {
        self.config.down_after = rule;
        self
    }

    /// The pauses before a down server is probed (default 200 ms, doubling to 2 s; at most 500 ms for a lone server).
    pub fn back_off(mut self, rule: BackOff) -> Self {
        self.config.back_off = rule;
        self
    }

    /// Looks in every call whether the process is a forked child (default off; one more system call a call).
    ///
    /// A child that uses an inherited client gets pools of its own and leaves its parent's sockets alone.
    /// Without this the child notices only when it connects or takes a connection that was idle for a
    /// second: build the client after the fork, or turn this on.
    ///
    /// A child made at the very moment at which another thread of its parent started or ended may be unable
    /// to start threads at all (they share a lock of Rust's standard library). Its calls then fail within their
    /// deadline as [`ErrorKind::OutOfResources`](crate::ErrorKind::OutOfResources).
    pub fn fork_check(mut self, on: bool) -> Self {
        self.config.fork_check = on;
        self
    }

    /// Sets codec, placement and key rules to those of another client, so that its cluster can be shared (default none).
    ///
    /// They are [`codec`](Self::codec), [`placement`](Self::placement), [`sanitize_keys`](Self::sanitize_keys),
    /// [`hash_prefix`](Self::hash_prefix) and [`long_keys`](Self::long_keys). Where the cluster differs, set one of them
    /// as well, before or behind: what is set by itself stays.
    ///
    /// ```
    /// use mcpool::{Client, Placement, Preset};
    /// // A cluster of Whalin's client with setHashingAlg(CONSISTENT_HASH).
    /// let client = Client::builder()
    ///     .preset(Preset::Whalin)
    ///     .placement(Placement::Consistent)
    ///     .servers(["10.0.0.1:11211", "10.0.0.2:11211"])
    ///     .build()?;
    /// # let _ = client;
    /// # Ok::<(), mcpool::Error>(())
    /// ```
    pub fn preset(mut self, preset: Preset) -> Self {
        let (bundle, by_hand, config) = (preset.bundle(), self.by_hand, &mut self.config);
        if let Some(codec) = bundle.codec.filter(|_| !by_hand.codec) {
            config.codec = codec;
        }
        if !by_hand.placement {
            config.placement = bundle.placement;
        }
        if !by_hand.sanitize_keys {
            config.keys.sanitize = bundle.sanitize_keys;
        }
        if !by_hand.hash_prefix {
            config.keys.hash_without_prefix = !bundle.hash_prefix;
        }
        if !by_hand.long_keys {
            config.keys.long = bundle.long_keys;
        }
        self
    }

    /// Checks every setting and makes the client; connects to nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config), naming the setting;
    /// [`ErrorKind::OutOfResources`](crate::ErrorKind::OutOfResources) when no thread can be started. Servers that
    /// are down are no error.
    pub fn build(mut self) -> Result<Client> {
        if let Some(n) = self.config.max_value_bytes {
            self.config.pool.max_reply_value = n;
            self.config.values.max_inflated = n;
        }
        Client::from_config(self.config)
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").field("config", &self.config).finish()
    }
}
