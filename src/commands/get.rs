//! Reads of one key.

use std::hash::{DefaultHasher, Hasher};
use std::mem;
use std::sync::Arc;
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use super::body::Body;
use super::reply::value;
use crate::client::{Call, Client, Scratched};
use crate::codec::{DecodeError, takes_bytes};
use crate::error::{Error, Result};
use crate::protocol::{Request, Value, Verb};
use crate::types::{Payload, ToKey, Ttl};

/// A value with the token that a later [`cas`](Client::cas) needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item<T> {
    /// The value.
    pub value: T,
    /// The token of this version of the value.
    pub cas: CasToken,
    /// The client flags stored beside it.
    pub flags: u32,
}

/// The version of a key's value, and the server that said so: a cas is for no other key and goes to no other server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CasToken {
    pub(super) unique: u64,
    pub(super) server: Arc<str>,
    /// Of the key as it was sent.
    key: u64,
}

impl<T> Item<T> {
    /// The same for the key that was sent.
    pub(super) fn of(mut self, key: &[u8]) -> Self {
        self.cas.key = key_hash(key);
        self
    }
}

impl CasToken {
    /// Whether it was read for this key, given as it is sent.
    pub(super) fn is_of(&self, key: &[u8]) -> bool {
        self.key == key_hash(key)
    }
}

/// Enough to tell a mistake from a match: keys that meet in it are seldom, and the server judges those.
fn key_hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}

impl Client {
    /// Reads a value.
    ///
    /// `None` means that a server said that there is none; with
    /// [`errors_as_misses`](crate::ClientBuilder::errors_as_misses) also that none could be asked.
    ///
    /// # Errors
    /// A bad key; a server that could not be asked in time; a value that cannot be read as a `T`.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// assert_eq!(client.get::<String>("nobody")?, None);
    /// client.set("n", &5, mcpool::Ttl::NEVER)?;
    /// assert_eq!(client.get::<u64>("n")?, Some(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get<T: DeserializeOwned>(&self, key: impl ToKey) -> Result<Option<T>> {
        self.call(
            Verb::Get,
            &key,
            || None,
            |call| {
                let found = self.read(call, &Request::Get { keys: &[call.key], cas: false })?;
                Ok(found.map(|(value, ..)| value))
            },
        )
    }

    /// Reads a value with its cas token.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// use mcpool::{CasOutcome, Ttl};
    /// client.set("n", &1, Ttl::NEVER)?;
    /// let item = client.gets::<u32>("n")?.expect("just stored");
    /// let outcome = client.cas("n", &(item.value + 1), Ttl::NEVER, &item.cas)?;
    /// assert_eq!(outcome, CasOutcome::Stored);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gets<T: DeserializeOwned>(&self, key: impl ToKey) -> Result<Option<Item<T>>> {
        self.call(
            Verb::Gets,
            &key,
            || None,
            |call| {
                let found = self.read(call, &Request::Get { keys: &[call.key], cas: true })?;
                Ok(found.map(|(value, v, node)| self.item(value, &v, node).of(call.key)))
            },
        )
    }

    /// Reads a value and sets its expiry time, in one step (memcached 1.5.3 or newer).
    ///
    /// # Errors
    /// As [`get`](Self::get), and for an expiry time beyond what memcached can express.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// use std::time::Duration;
    /// client.set("session", "s-1", Duration::from_secs(60))?;
    /// let session: Option<String> = client.get_and_touch("session", Duration::from_secs(600))?;
    /// server.clock().advance(Duration::from_secs(100));
    /// assert!(session.is_some() && client.contains_key("session")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_and_touch<T: DeserializeOwned>(
        &self,
        key: impl ToKey,
        ttl: impl Into<Ttl>,
    ) -> Result<Option<T>> {
        let ttl = ttl.into();
        self.call(
            Verb::Gat,
            &key,
            || None,
            |call| {
                let exptime = ttl.wire(SystemTime::now())?;
                let keys = &[call.key];
                let request = Request::GetAndTouch { keys, exptime, cas: false };
                Ok(self.read(call, &request)?.map(|(value, ..)| value))
            },
        )
    }

    /// Whether there is a value; it is read and thrown away, so that it costs what a `get` costs.
    ///
    /// # Errors
    /// As [`get`](Self::get), decoding excepted.
    pub fn contains_key(&self, key: impl ToKey) -> Result<bool> {
        self.call(
            Verb::Get,
            &key,
            || false,
            |call| {
                let mut body = Body::take();
                let request = Request::Get { keys: &[call.key], cas: false };
                let found = self.read_one(call, &request, Some(&mut body.0))?;
                Ok(found.map(|(v, _)| body.0 = v.bytes).is_some())
            },
        )
    }

    /// Reads a value's bytes and flags as they are stored, whatever wrote them.
    ///
    /// # Errors
    /// As [`get`](Self::get), decoding excepted.
    pub fn get_raw(&self, key: impl ToKey) -> Result<Option<Payload>> {
        self.call(
            Verb::Get,
            &key,
            || None,
            |call| {
                let found = self.find(call, false)?;
                Ok(found.map(|(v, _)| Payload { bytes: v.bytes, flags: v.flags }))
            },
        )
    }

    /// Reads a value's bytes into `buffer`, which keeps its room, and returns the flags.
    ///
    /// The buffer is emptied first and stays empty on a miss or an error.
    ///
    /// # Errors
    /// As [`get_raw`](Self::get_raw).
    pub fn get_raw_into(&self, key: impl ToKey, buffer: &mut Vec<u8>) -> Result<Option<u32>> {
        buffer.clear();
        self.call(
            Verb::Get,
            &key,
            || None,
            |call| {
                let request = Request::Get { keys: &[call.key], cas: false };
                let found = self.read_one(call, &request, Some(buffer))?;
                Ok(found.map(|(v, _)| {
                    // Another caller that brought the value had no hold of the buffer.
                    if v.bytes.capacity() < buffer.capacity() {
                        buffer.extend_from_slice(&v.bytes);
                    } else {
                        *buffer = v.bytes;
                    }
                    v.flags
                }))
            },
        )
    }

    /// Reads the value at the call's key; it comes with its node.
    pub(super) fn find(&self, call: &Call<'_>, cas: bool) -> Result<Option<(Value, usize)>> {
        self.read_one(call, &Request::Get { keys: &[call.key], cas }, None)
    }

    /// Runs a read of one key; the value comes with its node.
    fn read_one(
        &self,
        call: &Call<'_>,
        request: &Request<'_, '_>,
        buffer: Option<&mut Vec<u8>>,
    ) -> Result<Option<(Value, usize)>> {
        let mut scratch = Scratched::new();
        let batch = scratch.batch();
        let Some(buffer) = buffer else {
            batch.push(request);
            let answer = self.run(call, batch)?;
            return Ok(value(answer.reply)?.map(|v| (v, answer.node)));
        };
        batch.push_read_into(request, mem::take(buffer));
        let answer = self.run(call, batch);
        // Without a value the buffer is still the batch's; it keeps its room for the next read.
        *buffer = batch.take_buffer(0);
        let answer = answer?;
        Ok(value(answer.reply)?.map(|v| (v, answer.node)))
    }

    /// Runs a read of one key as a `T`; what is left of the stored value comes with it, and its node.
    ///
    /// The bytes come into this thread's buffer, unless a `T` takes them over.
    fn read<T: DeserializeOwned>(
        &self,
        call: &Call<'_>,
        request: &Request<'_, '_>,
    ) -> Result<Option<(T, Value, usize)>> {
        let mut body = (!takes_bytes::<T>()).then(Body::take);
        let found = self.read_one(call, request, body.as_mut().map(|body| &mut body.0))?;
        let Some((mut v, node)) = found else { return Ok(None) };
        let value = self.decoded(&mut v, node)?;
        if let Some(body) = &mut body {
            body.0 = mem::take(&mut v.bytes);
        }
        Ok(Some((value, v, node)))
    }

    /// The value as a `T`; an error names the server it came from.
    pub(super) fn decoded<T: DeserializeOwned>(&self, v: &mut Value, node: usize) -> Result<T> {
        self.codec().decode(v.flags, &mut v.bytes).map_err(|e| self.undecoded(e, node))
    }

    #[cold]
    fn undecoded(&self, e: DecodeError, node: usize) -> Error {
        Error::from(e).with_server(&self.router().name(node))
    }

    /// A value with its token, which is for no key yet.
    pub(super) fn item<T>(&self, value: T, v: &Value, node: usize) -> Item<T> {
        let (unique, server) = (v.cas.unwrap_or(0), self.router().name(node));
        let cas = CasToken { unique, server, key: 0 };
        Item { value, cas, flags: v.flags }
    }
}
