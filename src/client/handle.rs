//! The handle: a cheap clone of what a call needs, and the frame that every call runs in.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::builder::ClientBuilder;
use super::config::Config;
use super::core::Core;
use crate::codec::{Codec, Transcoder};
use crate::error::{Error, ErrorKind, Phase, Result};
use crate::protocol::{Batch, Scratch, Verb};
use crate::router::{Answer, Router, Shape, Target, Timing};
use crate::stats::ClientStats;
use crate::time::Deadline;
use crate::types::{KeyRef, KeyRules, ServerList, ToKey, WireKey};

/// Building takes microseconds; this only bounds a machine that has stopped.
const BUILD: Duration = Duration::from_secs(60);

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

/// One call under way: what it is, for which key, since when.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) verb: Verb,
    /// As it goes over the wire.
    pub(crate) key: &'a [u8],
    pub(crate) timing: Timing,
    given: KeyRef<'a>,
    /// How many bytes of the key have no say in its server.
    unhashed: usize,
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
        let core = Core::new(config, Arc::default(), Deadline::after(Instant::now(), BUILD))?;
        Ok(Self {
            keys: Arc::new(core.config.keys.clone()),
            codec: Transcoder::new(core.config.codec.clone(), core.config.values),
            timeout: core.config.timeout,
            core: Arc::new(core),
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

    /// A handle on the same pools that stores and reads values with another codec; its settings stay.
    #[must_use]
    pub fn with_codec(&self, codec: Codec) -> Self {
        let codec = Transcoder::new(codec, self.core.config.values);
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
        self.core.close();
    }

    pub(crate) fn codec(&self) -> &Transcoder {
        &self.codec
    }

    /// The nodes, for names and places.
    pub(crate) fn router(&self) -> &Router {
        &self.core.latest().router
    }

    /// The nodes of this process; in a forked child its own, which are made at the first need.
    pub(crate) fn own_router(&self, deadline: Deadline) -> Result<&Router> {
        self.core.own(deadline).map(|core| &core.router)
    }

    /// Runs requests for many keys.
    pub(crate) fn fan_out<'a, S: Shape<'a>>(
        &self,
        targets: &[Target<'a>],
        shape: &S,
        timing: Timing,
    ) -> Vec<Result<Answer>> {
        let mut answers = Vec::new();
        let first_error = self.core.run(
            |core| {
                answers = core.router.fan_out(targets, shape, timing);
                answers.iter().find_map(|a| a.as_ref().err()).map_or(Ok(()), |e| Err(e.clone()))
            },
            timing.deadline,
        );
        match first_error {
            // There are no answers yet when a child could not set itself up.
            Err(e) if answers.is_empty() => targets.iter().map(|_| Err(e.clone())).collect(),
            _ => answers,
        }
    }

    pub(crate) fn counters(&self) -> &ClientStats {
        &self.core.latest().stats
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

    /// The same without copying a key that goes out as it is; another is made in `room`.
    pub(crate) fn wire_in<'k>(
        &self,
        key: KeyRef<'k>,
        room: &'k mut Option<WireKey>,
    ) -> Result<&'k [u8]> {
        Ok(self.keys.wire_in(key.bytes, room)?)
    }

    /// Whether a key may go over the wire in another form than its own.
    pub(crate) fn rewrites_keys(&self) -> bool {
        self.keys.rewrites()
    }

    /// How many bytes of a wire key have no say in its server.
    pub(crate) fn unhashed(&self) -> usize {
        self.keys.unhashed()
    }

    /// Refuses a value that is above the configured limit.
    pub(crate) fn check_size(&self, len: usize) -> Result<()> {
        match self.core.config.max_value_bytes {
            Some(max) if len > max => {
                let why = format!(
                    "the value has {len} bytes, `max_value_bytes` allows {max}; nothing was sent"
                );
                Err(Error::new(ErrorKind::ValueTooLarge, why).with_phase(Phase::Prepare))
            }
            _ => Ok(()),
        }
    }

    /// Fails once the client was closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.core.check_open()
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
            let mut room = None;
            let wire = self.wire_in(key, &mut room)?;
            let (given, unhashed) = (key, self.unhashed());
            let call = Call { verb, key: wire, timing, given, unhashed };
            run(&call).map_err(|e| e.with_call(verb, Some(wire)))
        });
        outcome.or_else(|e| {
            let e = e.with_call(verb, Some(key.bytes)).with_elapsed(timing.started.elapsed());
            self.report(&e);
            self.absorb(e, miss)
        })
    }

    /// Counts a failed call and tells the observer.
    pub(crate) fn report(&self, error: &Error) {
        self.counters().failed.one();
        if let Some(observer) = &self.core.config.observer {
            observer.tell(error);
        }
    }

    /// Turns an outage into `miss` where that is asked for.
    pub(crate) fn absorb<T>(&self, error: Error, miss: impl FnOnce() -> T) -> Result<T> {
        if self.core.config.errors_as_misses && error.may_retry() {
            self.counters().absorbed.one();
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
        self.core
            .run(|core| core.router.run(verb, &target, batch, call.timing), call.timing.deadline)
    }
}

impl Call<'_> {
    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            place: self.given.place(self.key, self.unhashed),
            hash: self.given.hash,
            only: None,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self.router().nodes().iter().map(|n| n.name()).collect();
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
        // They are gone already when a destructor of another thread-local makes a call.
        let scratch = SCRATCH.try_with(Cell::take).ok().flatten();
        Self(Batch::reusing(scratch.unwrap_or_default()))
    }

    pub(crate) fn batch(&mut self) -> &mut Batch<'a> {
        &mut self.0
    }
}

impl Drop for Scratched<'_> {
    fn drop(&mut self) {
        let scratch = std::mem::take(&mut self.0).into_scratch();
        _ = SCRATCH.try_with(|kept| kept.set(Some(scratch)));
    }
}
