//! Stores of one key.

use std::time::SystemTime;

use serde::Serialize;

use super::body::Body;
use super::get::CasToken;
use super::reply::{stored, unexpected};
use crate::client::{Client, Scratched};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Reply, Request, StoreVerb, Verb};
use crate::types::{ToKey, Ttl};

/// Why nothing is put before or behind a value while values are compressed.
const TO_COMPRESSED: &str = "with `compress_above` the stored value may be compressed, and bytes put before or \
                             behind it would ruin it; with_codec(Codec::Raw) does it nevertheless";

/// What came of a [`cas`](Client::cas).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "a cas that was not stored has to be tried again or given up"]
pub enum CasOutcome {
    /// The value had not changed and is now the new one.
    Stored,
    /// Someone else changed the value since the token was read.
    Changed,
    /// There is no value any more.
    Missing,
}

impl Client {
    /// Stores a value, whether or not there is one.
    ///
    /// # Errors
    /// A bad key or expiry time, a value that the codec cannot hold or that is too large; a server that
    /// could not be reached or did not answer in time, when it
    /// [may have been applied](Error::may_have_been_applied). After a store that the server found too large
    /// the old value is gone; after one that this client refused, nothing was sent and the old value stays.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// use std::time::Duration;
    /// client.set("greeting", "Hello!", Duration::from_secs(60))?;
    /// client.set("bytes", &vec![0_u8, 1, 2], Duration::from_secs(60))?;
    /// client.set("point", &(1.5, -2.0), mcpool::Ttl::NEVER)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set<T: Serialize + ?Sized>(
        &self,
        key: impl ToKey,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<()> {
        let miss = || Reply::Stored;
        stored(self.encode_and_store(StoreVerb::Set, &key, value, ttl.into(), miss)?).map(drop)
    }

    /// Stores bytes with flags of one's own, as they are; read them with [`get_raw`](Self::get_raw).
    ///
    /// # Errors
    /// As [`set`](Self::set), encoding excepted.
    pub fn set_raw(
        &self,
        key: impl ToKey,
        bytes: impl AsRef<[u8]>,
        flags: u32,
        ttl: impl Into<Ttl>,
    ) -> Result<()> {
        let ttl = ttl.into();
        self.call(
            Verb::Set,
            &key,
            || (),
            |call| {
                let exptime = ttl.wire(SystemTime::now())?;
                let value = bytes.as_ref();
                let store = Store { verb: StoreVerb::Set, flags, exptime, value, only: None };
                self.store(call, &store).and_then(stored).map(drop)
            },
        )
    }

    /// Stores a value only if there is none; `false` if there is one.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// use std::time::Duration;
    /// let minute = Duration::from_secs(60);
    /// assert!(client.add("lock", "mine", minute)?);
    /// assert!(!client.add("lock", "theirs", minute)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add<T: Serialize + ?Sized>(
        &self,
        key: impl ToKey,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool> {
        let miss = || Reply::NotStored;
        stored(self.encode_and_store(StoreVerb::Add, &key, value, ttl.into(), miss)?)
    }

    /// Stores a value only if there is one already; `false` if there is none.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn replace<T: Serialize + ?Sized>(
        &self,
        key: impl ToKey,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool> {
        let miss = || Reply::NotStored;
        stored(self.encode_and_store(StoreVerb::Replace, &key, value, ttl.into(), miss)?)
    }

    /// Puts bytes behind those of a value; `false` if there is none. Expiry time and flags stay.
    ///
    /// The bytes are added as they are; it is for text and byte values. `false` is also what memcached
    /// says when the value would grow beyond its limit.
    ///
    /// # Errors
    /// As [`set_raw`](Self::set_raw), and [`ErrorKind::Encode`] while this client compresses values
    /// (`compress_above`), since the stored one may be compressed.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// client.set("log", "a", mcpool::Ttl::NEVER)?;
    /// assert!(client.append("log", ",b")?);
    /// assert_eq!(client.get::<String>("log")?.as_deref(), Some("a,b"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(&self, key: impl ToKey, bytes: impl AsRef<[u8]>) -> Result<bool> {
        self.extend(StoreVerb::Append, &key, bytes.as_ref())
    }

    /// Puts bytes before those of a value; `false` if there is none. Expiry time and flags stay.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn prepend(&self, key: impl ToKey, bytes: impl AsRef<[u8]>) -> Result<bool> {
        self.extend(StoreVerb::Prepend, &key, bytes.as_ref())
    }

    /// Stores a value only if the present one is still the version that `token` stands for.
    ///
    /// It goes only to the server that gave the token, and is not sent again once its last byte went out.
    ///
    /// # Errors
    /// As [`set`](Self::set), and [`ErrorKind::Config`] for a token that was read for another key, or of a server that this client does not
    /// have: neither `Changed` nor `Missing` would be true of the key then. Nothing is sent.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// use mcpool::{CasOutcome, Ttl};
    /// client.set("n", &1, Ttl::NEVER)?;
    /// let item = client.gets::<u32>("n")?.expect("just stored");
    /// client.set("n", &7, Ttl::NEVER)?; // someone else
    /// let outcome = client.cas("n", &(item.value + 1), Ttl::NEVER, &item.cas)?;
    /// assert_eq!(outcome, CasOutcome::Changed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cas<T: Serialize + ?Sized>(
        &self,
        key: impl ToKey,
        value: &T,
        ttl: impl Into<Ttl>,
        token: &CasToken,
    ) -> Result<CasOutcome> {
        let ttl = ttl.into();
        self.call(
            Verb::Cas,
            &key,
            || CasOutcome::Missing,
            |call| {
                if !token.is_of(call.key) {
                    return Err(Error::new(
                        ErrorKind::Config,
                        "the token was read for another key",
                    ));
                }
                let node = self.router().nodes().iter().position(|n| *n.name() == token.server);
                let node = node.ok_or_else(|| {
                    let why = format!(
                        "the token is of {}, which this client does not have",
                        token.server
                    );
                    Error::new(ErrorKind::Config, why)
                })?;
                let exptime = ttl.wire(SystemTime::now())?;
                let verb = StoreVerb::Cas(token.unique);
                let reply = self.encoded(value, |flags, value| {
                    self.store(call, &Store { verb, flags, exptime, value, only: Some(node) })
                })?;
                match reply {
                    Reply::Stored => Ok(CasOutcome::Stored),
                    Reply::Exists => Ok(CasOutcome::Changed),
                    Reply::NotFound => Ok(CasOutcome::Missing),
                    other => Err(unexpected(other)),
                }
            },
        )
    }

    fn extend(&self, verb: StoreVerb, key: &impl ToKey, value: &[u8]) -> Result<bool> {
        self.call(
            verb.verb(),
            key,
            || false,
            |call| {
                if self.codec().compresses() {
                    return Err(Error::new(ErrorKind::Encode, TO_COMPRESSED));
                }
                let store = Store { verb, flags: 0, exptime: 0, value, only: None };
                stored(self.store(call, &store)?)
            },
        )
    }

    fn encode_and_store<T: Serialize + ?Sized>(
        &self,
        verb: StoreVerb,
        key: &impl ToKey,
        value: &T,
        ttl: Ttl,
        miss: impl FnOnce() -> Reply,
    ) -> Result<Reply> {
        self.call(verb.verb(), key, miss, |call| {
            let exptime = ttl.wire(SystemTime::now())?;
            self.encoded(value, |flags, value| {
                self.store(call, &Store { verb, flags, exptime, value, only: None })
            })
        })
    }

    /// Encodes into this thread's buffer and hands flags and bytes to `run`.
    pub(super) fn encoded<T: Serialize + ?Sized, R>(
        &self,
        value: &T,
        run: impl FnOnce(u32, &[u8]) -> Result<R>,
    ) -> Result<R> {
        let mut body = Body::take();
        let flags = self.codec().encode(value, &mut body.0)?;
        self.check_size(body.0.len())?;
        run(flags, &body.0)
    }
}

/// A store of one key, ready for the wire but for its key.
pub(super) struct Store<'a> {
    pub(super) verb: StoreVerb,
    pub(super) flags: u32,
    pub(super) exptime: i32,
    pub(super) value: &'a [u8],
    /// The only node it may go to.
    pub(super) only: Option<usize>,
}

impl Client {
    /// Runs a store.
    pub(super) fn store(&self, call: &crate::client::Call<'_>, store: &Store<'_>) -> Result<Reply> {
        self.check_size(store.value.len())?;
        let Store { verb, flags, exptime, value, only } = *store;
        let mut scratch = Scratched::new();
        let batch = scratch.batch();
        batch.push(&Request::Store { verb, key: call.key, flags, exptime, value });
        let answer = self.run_at(call, only, batch).map_err(|e| e.with_size(value.len()))?;
        Ok(answer.reply)
    }
}
