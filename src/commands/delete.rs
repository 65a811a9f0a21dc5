//! Deletes and touches of one key.

use std::time::SystemTime;

use super::reply::{found, substituted};
use crate::client::{Client, Scratched};
use crate::error::{Error, Result};
use crate::protocol::{Request, Verb};
use crate::router::{Answer, Target};
use crate::types::{ToKey, Ttl};

impl Client {
    /// Removes a value; `false` if there was none.
    ///
    /// # Errors
    /// A bad key; a server that could not be reached or did not answer in time. When failover took the
    /// delete to a substitute, [`ErrorKind::Substituted`](crate::ErrorKind::Substituted): the key's own
    /// server may still hold the value and show it when it is back.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// client.set("k", "v", mcpool::Ttl::NEVER)?;
    /// assert!(client.delete("k")?);
    /// assert!(!client.delete("k")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete(&self, key: impl ToKey) -> Result<bool> {
        self.call(
            Verb::Delete,
            &key,
            || false,
            |call| {
                let mut scratch = Scratched::new();
                let batch = scratch.batch();
                batch.push(&Request::Delete { key: call.key });
                let answer = self.run(call, batch)?;
                self.deleted(&call.target(), answer)
            },
        )
    }

    /// Sets a value's expiry time; `false` if there is none (memcached 1.4.8 or newer).
    ///
    /// # Errors
    /// A bad key or expiry time; a server that could not be reached or did not answer in time.
    pub fn touch(&self, key: impl ToKey, ttl: impl Into<Ttl>) -> Result<bool> {
        let ttl = ttl.into();
        self.call(
            Verb::Touch,
            &key,
            || false,
            |call| {
                let exptime = ttl.wire(SystemTime::now())?;
                let mut scratch = Scratched::new();
                let batch = scratch.batch();
                batch.push(&Request::Touch { key: call.key, exptime });
                found(self.run(call, batch)?.reply)
            },
        )
    }

    /// A delete's result; one that reached a substitute is never a plain success.
    pub(super) fn deleted(&self, target: &Target<'_>, answer: Answer) -> Result<bool> {
        let Answer { reply, node, substituted: elsewhere } = answer;
        let deleted = found(reply)?;
        if !elsewhere {
            return Ok(deleted);
        }
        let router = self.router();
        let error: Error = substituted(&router.name(router.home(target)), &router.name(node));
        Err(error.with_fate(crate::error::Fate::Unknown))
    }
}
