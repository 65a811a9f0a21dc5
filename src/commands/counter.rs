//! Counters: decimal numbers that the server adds to.

use std::time::{Instant, SystemTime};

use super::reply::{number, stored};
use super::store::Store;
use crate::client::{Call, Client, Scratched};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Request, StoreVerb, Verb};
use crate::types::{ToKey, Ttl};

impl Client {
    /// Adds to a counter and returns its new value; `None` if there is none. It wraps at 2^64.
    ///
    /// Never sent a second time once its bytes went out.
    ///
    /// # Errors
    /// [`ErrorKind::NotANumber`] when the value is not decimal text; a bad key; a server that could not
    /// be reached or did not answer in time.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// assert_eq!(client.incr("hits", 1)?, None);
    /// client.set("hits", &41, mcpool::Ttl::NEVER)?;
    /// assert_eq!(client.incr("hits", 1)?, Some(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn incr(&self, key: impl ToKey, by: u64) -> Result<Option<u64>> {
        self.call(Verb::Incr, &key, || None, |call| self.count(call, Step::Up(by)))
    }

    /// Subtracts from a counter and returns its new value, at least 0; `None` if there is none.
    ///
    /// # Errors
    /// As [`incr`](Self::incr).
    pub fn decr(&self, key: impl ToKey, by: u64) -> Result<Option<u64>> {
        self.call(Verb::Decr, &key, || None, |call| self.count(call, Step::Down(by)))
    }

    /// Adds to a counter, or starts it at `initial` when there is none; the value it then has.
    ///
    /// `None` only with [`errors_as_misses`](crate::ClientBuilder::errors_as_misses), for an outage.
    ///
    /// # Errors
    /// As [`incr`](Self::incr), and for an expiry time beyond what memcached can express.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// assert_eq!(client.incr_or_init("visits", 1, 10, mcpool::Ttl::NEVER)?, Some(10));
    /// assert_eq!(client.incr_or_init("visits", 1, 10, mcpool::Ttl::NEVER)?, Some(11));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn incr_or_init(
        &self,
        key: impl ToKey,
        by: u64,
        initial: u64,
        ttl: impl Into<Ttl>,
    ) -> Result<Option<u64>> {
        let ttl = ttl.into();
        self.call(
            Verb::Incr,
            &key,
            || None,
            |call| self.count_or_init(call, Step::Up(by), initial, ttl).map(Some),
        )
    }

    /// Subtracts from a counter, or starts it at `initial` when there is none; the value it then has.
    ///
    /// # Errors
    /// As [`incr_or_init`](Self::incr_or_init).
    pub fn decr_or_init(
        &self,
        key: impl ToKey,
        by: u64,
        initial: u64,
        ttl: impl Into<Ttl>,
    ) -> Result<Option<u64>> {
        let ttl = ttl.into();
        self.call(
            Verb::Decr,
            &key,
            || None,
            |call| self.count_or_init(call, Step::Down(by), initial, ttl).map(Some),
        )
    }

    /// Stores a counter as decimal text, whatever the codec, so that `incr` and every client can read it.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_counter(&self, key: impl ToKey, n: u64, ttl: impl Into<Ttl>) -> Result<()> {
        let ttl = ttl.into();
        self.call(
            Verb::Set,
            &key,
            || (),
            |call| {
                let exptime = ttl.wire(SystemTime::now())?;
                self.store_counter(call, StoreVerb::Set, n, exptime).map(drop)
            },
        )
    }

    /// Reads a counter; `None` if there is none. The blanks that `decr` leaves behind are cut off.
    ///
    /// # Errors
    /// As [`get`](Self::get); a value that is not decimal text is a decode error.
    pub fn counter(&self, key: impl ToKey) -> Result<Option<u64>> {
        self.call(
            Verb::Get,
            &key,
            || None,
            |call| {
                let Some((v, node)) = self.find(call, false)? else { return Ok(None) };
                let n = self.codec().decode_counter(v.flags, v.bytes);
                n.map(Some).map_err(|e| Error::from(e).with_server(&self.router().name(node)))
            },
        )
    }

    fn count(&self, call: &Call<'_>, step: Step) -> Result<Option<u64>> {
        let key = call.key;
        let mut scratch = Scratched::new();
        let batch = scratch.batch();
        batch.push(&match step {
            Step::Up(by) => Request::Incr { key, by },
            Step::Down(by) => Request::Decr { key, by },
        });
        number(self.run(call, batch)?.reply)
    }

    fn count_or_init(&self, call: &Call<'_>, step: Step, initial: u64, ttl: Ttl) -> Result<u64> {
        // Before the first round, so that nothing is counted when the time is refused.
        let exptime = ttl.wire(SystemTime::now())?;
        loop {
            if let Some(n) = self.count(call, step)? {
                return Ok(n);
            }
            if self.store_counter(call, StoreVerb::Add, initial, exptime)? {
                return Ok(initial);
            }
            // Others start it and remove it between our requests.
            if call.timing.deadline.passed(Instant::now()) {
                let why = "the counter vanishes between one request and the next";
                return Err(Error::new(ErrorKind::Timeout, why));
            }
        }
    }

    fn store_counter(
        &self,
        call: &Call<'_>,
        verb: StoreVerb,
        n: u64,
        exptime: i32,
    ) -> Result<bool> {
        let mut text = Vec::with_capacity(20);
        let flags = self.codec().encode_counter(n, &mut text);
        let store = Store { verb, flags, exptime, value: &text, only: None };
        stored(self.store(call, &store)?)
    }
}

/// What a counter is changed by.
#[derive(Debug, Clone, Copy)]
enum Step {
    Up(u64),
    Down(u64),
}
