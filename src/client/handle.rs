//! The handle: a cheap clone of what a call needs, and the frame that every call runs in.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::builder::ClientBuilder;
use super::config::Config;
use crate::codec::{Codec, Transcoder};
use crate::error::{Error, ErrorKind, Result};
use crate::health::Rules;
use crate::pool::{Maintenance, NodePool, NodeSetup, Worker};
use crate::protocol::{Batch, Scratch, Verb};
use crate::ring::{Ring, RingNode};
use crate::router::{Answer, Router, Target, Timing};
use crate::stats::ClientStats;
use crate::time::Deadline;
use crate::types::{KeyRef, KeyRules, Server, ServerList, ToKey, WireKey};

/// A memcached client: a handle on one pool of connections per server.
///
/// Cloning is cheap and shares the pools; so do the handles that [`with_timeout`](Self::with_timeout),
/// [`with_prefix`](Self::with_prefix) and [`with_codec`](Self::with_codec) make. It can be used from any
/// number of threads. The last handle's drop closes the connections without waiting for anything.
///
/// ```
/// # let server = mcpool::testing::TestServer::start()?;
/// # let address = server.address();
/// use std::time::Duration;
/// let client = mcpool::Client::new(&address)?;
/// client.set("greeting", "Hello!", Duration::from_secs(60))?;
/// let greeting: Option<String> = client.get("greeting")?;
/// assert_eq!(greeting.as_deref(), Some("Hello!"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    keys: Arc<KeyRules>,
    codec: Transcoder,
    timeout: Duration,
}

/// What all handles of a client share.
struct Core {
    config: Config,
    router: Router,
    stats: ClientStats,
    closed: AtomicBool,
    /// Fills the permits and looks up names; ends with the client.
    _worker: Worker,
}

/// One call under way: what it is, for which key, since when.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) verb: Verb,
    pub(crate) key: WireKey,
    pub(crate) timing: Timing,
    by: Option<&'a [u8]>,
    hash: Option<i32>,
}

impl Client {
    /// A client with default settings for one server, or several separated by commas.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when an address cannot be used.
    pub fn new(servers: impl Into<ServerList>) -> Result<Self> {
        Self::builder().servers(servers).build()
    }

    /// Starts with the default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(super) fn from_config(config: Config) -> Result<Self> {
        let servers = config.checked()?;
        let ring_nodes: Vec<_> =
            servers.iter().map(|s| RingNode { name: s.name(), weight: s.weight() }).collect();
        let ring =
            Ring::new(config.placement, &ring_nodes).map_err(|e| Error::config("servers", e))?;
        let worker = Worker::new();
        let (maintenance, wake) = Maintenance::new();
        let io_timeout = match servers.len() {
            1 => config.timeout,
            _ => config.attempt_timeout.unwrap_or(config.timeout / 2),
        };
        let nodes = servers
            .iter()
            .map(|server| {
                let setup = NodeSetup {
                    server,
                    config: &config.pool,
                    io_timeout,
                    health: Rules {
                        down_after: config.down_after,
                        back_off: config.back_off,
                        failback: config.failback,
                        lone: servers.len() == 1,
                    },
                    seed: seed(server),
                    worker: &worker,
                    wake: wake.clone(),
                };
                NodePool::new(setup).map(Arc::new).ok_or_else(|| {
                    Error::config("max_connections", "the worker thread does not make the permits")
                })
            })
            .collect::<Result<Vec<_>>>()?;
        drop(wake);
        if !config.pool.maintenance_interval.is_zero() {
            maintenance
                .start(nodes.iter().map(Arc::downgrade).collect(), config.pool.maintenance_interval)
                .map_err(|e| {
                    Error::config("maintenance_interval", "no thread can be started").with_source(e)
                })?;
        }
        let router = Router::new(nodes, ring, config.failover, config.attempt_timeout);
        let codec = Transcoder::new(config.codec.clone(), config.primitives_as_strings);
        Ok(Self {
            keys: Arc::new(config.keys.clone()),
            codec,
            timeout: config.timeout,
            core: Arc::new(Core {
                config,
                router,
                stats: ClientStats::default(),
                closed: AtomicBool::new(false),
                _worker: worker,
            }),
        })
    }

    /// A handle on the same pools with another deadline for whole calls.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when it is zero or above `max_busy`.
    pub fn with_timeout(&self, timeout: Duration) -> Result<Self> {
        self.core.config.check_timeout(timeout)?;
        Ok(Self { timeout, ..self.clone() })
    }

    /// A handle on the same pools that puts another prefix before every key.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when the prefix is too long or has illegal bytes.
    pub fn with_prefix(&self, prefix: impl Into<Vec<u8>>) -> Result<Self> {
        let keys = KeyRules { prefix: prefix.into(), ..(*self.keys).clone() };
        keys.check_prefix().map_err(|e| Error::config("key_prefix", e))?;
        Ok(Self { keys: Arc::new(keys), ..self.clone() })
    }

    /// A handle on the same pools that stores and reads values with another codec.
    #[must_use]
    pub fn with_codec(&self, codec: Codec) -> Self {
        let codec = Transcoder::new(codec, self.core.config.primitives_as_strings);
        Self { codec, ..self.clone() }
    }

    /// The deadline of this handle's calls.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Closes every connection and turns waiting callers away; later calls fail with [`ErrorKind::Closed`].
    ///
    /// Calls under way end within their deadlines. Closing twice does nothing; it waits for nobody.
    pub fn close(&self) {
        self.core.closed.store(true, Ordering::Release);
        self.core.router.nodes().iter().for_each(|node| node.close());
    }

    pub(crate) fn codec(&self) -> &Transcoder {
        &self.codec
    }

    pub(crate) fn router(&self) -> &Router {
        &self.core.router
    }

    pub(crate) fn counters(&self) -> &ClientStats {
        &self.core.stats
    }

    /// The time of a call that starts now.
    pub(crate) fn timing(&self) -> Timing {
        let started = Instant::now();
        Timing { started, deadline: Deadline::after(started, self.timeout) }
    }

    /// The key as it goes over the wire.
    pub(crate) fn wire(&self, key: KeyRef<'_>) -> Result<WireKey> {
        Ok(self.keys.wire(key.bytes)?)
    }

    /// Refuses a value that is above the configured limit.
    pub(crate) fn check_size(&self, len: usize) -> Result<()> {
        match self.core.config.max_value_bytes {
            Some(max) if len > max => Err(Error::new(
                ErrorKind::ValueTooLarge,
                format!("the value has {len} bytes, `max_value_bytes` allows {max}"),
            )),
            _ => Ok(()),
        }
    }

    /// Fails once the client was closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.core.closed.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::Closed, "the client was closed"));
        }
        Ok(())
    }

    /// The frame of a call for one key: checks the key, runs `run`, gives the error its context, tells the
    /// observer, and turns an outage into `miss` where that is asked for.
    pub(crate) fn call<T>(
        &self,
        verb: Verb,
        key: &(impl ToKey + ?Sized),
        miss: impl FnOnce() -> T,
        run: impl FnOnce(&Call<'_>) -> Result<T>,
    ) -> Result<T> {
        let timing = self.timing();
        let key = key.to_key();
        let outcome = self.check_open().and_then(|()| {
            let call = Call { verb, key: self.wire(key)?, timing, by: key.by, hash: key.hash };
            run(&call).map_err(|e| e.with_call(verb, Some(call.key.as_bytes())))
        });
        outcome.or_else(|e| {
            let e = e.with_call(verb, Some(key.bytes)).with_elapsed(timing.started.elapsed());
            self.report(&e);
            self.absorb(e, miss)
        })
    }

    /// Counts a failed call and tells the observer.
    pub(crate) fn report(&self, error: &Error) {
        self.core.stats.failed.one();
        if let Some(observer) = &self.core.config.observer {
            observer(error);
        }
    }

    /// Turns an outage into `miss` where that is asked for.
    pub(crate) fn absorb<T>(&self, error: Error, miss: impl FnOnce() -> T) -> Result<T> {
        if self.core.config.errors_as_misses && error.is_outage() {
            self.core.stats.absorbed.one();
            return Ok(miss());
        }
        Err(error)
    }

    /// Runs a call's batch.
    pub(crate) fn run(&self, call: &Call<'_>, batch: &mut Batch<'_>) -> Result<Answer> {
        self.run_at(call, None, batch)
    }

    /// Runs a call's batch, on one node only if that is given.
    pub(crate) fn run_at(
        &self,
        call: &Call<'_>,
        only: Option<usize>,
        batch: &mut Batch<'_>,
    ) -> Result<Answer> {
        let target = Target { only, ..call.target() };
        // The add within an `incr_or_init` is an add, whatever the call is named.
        let verb = batch.verb(0).unwrap_or(call.verb);
        self.core.router.run(verb, &target, batch, call.timing)
    }
}

impl Call<'_> {
    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            place: self.by.unwrap_or_else(|| self.key.as_bytes()),
            hash: self.hash,
            only: None,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self.core.router.nodes().iter().map(|n| n.name()).collect();
        f.debug_struct("Client")
            .field("servers", &servers)
            .field("timeout", &self.timeout)
            .field("prefix", &String::from_utf8_lossy(&self.keys.prefix))
            .field("codec", &self.codec)
            .finish()
    }
}

thread_local! {
    /// Buffers of the last call on this thread, so that the next one allocates nothing.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// A batch in this thread's buffers, which go back when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratched<'a>(Batch<'a>);

impl<'a> Scratched<'a> {
    pub(crate) fn new() -> Self {
        Self(Batch::reusing(SCRATCH.take().unwrap_or_default()))
    }

    pub(crate) fn batch(&mut self) -> &mut Batch<'a> {
        &mut self.0
    }
}

impl Drop for Scratched<'_> {
    fn drop(&mut self) {
        SCRATCH.set(Some(std::mem::take(&mut self.0).into_scratch()));
    }
}

/// Something to tell jitter sequences apart by, across servers and processes.
fn seed(server: &Server) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(server.name())
}
