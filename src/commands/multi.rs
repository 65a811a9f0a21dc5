//! Calls for many keys: every server is asked at once, every key gets its own outcome.

use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::get::Item;
use super::outcomes::{MultiGet, Outcomes};
use super::plan::{Plan, Wired};
use super::reply::unexpected;
use super::shapes::{Deletes, Each, Encoded, Gets, Requests, Values};
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Reply, Value, Verb};
use crate::router::{Answer, Shape, Target, Timing};
use crate::types::{ToKey, Ttl};

impl Client {
    /// Reads many values: all servers at once, within one deadline.
    ///
    /// A key that is there twice is asked for once. A bad key, a failed server and a value that cannot be
    /// read fail only the keys concerned.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// client.set("a", &1, mcpool::Ttl::NEVER)?;
    /// let found = client.get_many::<u32, _>(["a", "b"]);
    /// assert_eq!(found.get("a"), Some(&1));
    /// assert!(matches!(found.outcome("b"), Some(Ok(None))));
    /// assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a", 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_many<T, K>(&self, keys: impl IntoIterator<Item = K>) -> MultiGet<K, T>
    where
        T: DeserializeOwned,
        K: ToKey,
    {
        self.read_many(keys, false, |v, node| self.decoded(v, node))
    }

    /// Reads many values with their cas tokens; otherwise as [`get_many`](Self::get_many).
    pub fn gets_many<T, K>(&self, keys: impl IntoIterator<Item = K>) -> MultiGet<K, Item<T>>
    where
        T: DeserializeOwned,
        K: ToKey,
    {
        let read = self.read_many(keys, true, |v, node| {
            let value = self.decoded(v, node)?;
            Ok(self.item(value, v, node))
        });
        // Each answer may serve several spellings of a key; the token is for the one that was sent.
        read.map(|key, item: Item<T>| match self.wire(key.to_key()) {
            Ok(wire) => item.of(wire.as_bytes()),
            Err(_) => item,
        })
    }

    /// Stores many values: pipelined, all servers at once, within one deadline.
    ///
    /// A bad key, a value that cannot be encoded and a failed server fail only the keys concerned.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// use std::time::Duration;
    /// client.set_many([("a", 1), ("b", 2)], Duration::from_secs(60)).into_result()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_many<K, V>(
        &self,
        entries: impl IntoIterator<Item = (K, V)>,
        ttl: impl Into<Ttl>,
    ) -> Outcomes<K, ()>
    where
        K: ToKey,
        V: Serialize,
    {
        let timing = self.timing();
        let exptime = ttl.into().wire(SystemTime::now());
        let mut encoded = Encoded::default();
        let keys: Vec<K> = entries
            .into_iter()
            .map(|(key, value)| {
                encoded.add(self, &value);
                key
            })
            .collect();
        let values = Values { exptime, encoded };
        self.each(
            Verb::Set,
            timing,
            keys,
            &values,
            || (),
            |_, answer| match answer.reply {
                Reply::Stored => Ok(()),
                other => Err(unexpected(other)),
            },
        )
    }

    /// Removes many values: pipelined, all servers at once, within one deadline; `false` where there was none.
    ///
    /// As with [`delete`](Self::delete), one that only reached a substitute is an error.
    pub fn delete_many<K: ToKey>(&self, keys: impl IntoIterator<Item = K>) -> Outcomes<K, bool> {
        let timing = self.timing();
        let keys = keys.into_iter().collect();
        self.each(
            Verb::Delete,
            timing,
            keys,
            &Deletes,
            || false,
            |target, answer| self.deleted(target, answer),
        )
    }

    /// Reads each distinct key once.
    fn read_many<K: ToKey, R>(
        &self,
        keys: impl IntoIterator<Item = K>,
        cas: bool,
        decode: impl Fn(&mut Value, usize) -> Result<R>,
    ) -> MultiGet<K, R> {
        let timing = self.timing();
        let keys: Vec<K> = keys.into_iter().collect();
        let wired = Wired::new(self, &keys);
        let plan = Plan::new(self, &keys, &wired, true, |_| self.check_open());
        let shape = Gets { keys: &plan.keys, cas };
        let mut answers = self.fan_out(&plan.targets, &shape, timing);
        let (verb, items, last_uses) = (shape.verb(), plan.items, plan.places);
        let results = items.into_iter().enumerate().map(|(place, item)| {
            let item = item?;
            // Decoded where it lies; for a key that comes again, from a copy.
            let is_last = last_uses.get(item) == Some(&place);
            match answers.get_mut(item) {
                Some(Ok(Answer { reply: Reply::Value(None), .. })) => Ok(None),
                Some(Ok(Answer { reply: Reply::Value(Some(v)), node, .. })) if is_last => {
                    decode(v, *node).map(Some)
                }
                Some(Ok(Answer { reply: Reply::Value(Some(v)), node, .. })) => {
                    decode(&mut v.clone(), *node).map(Some)
                }
                Some(Ok(answer)) => Err(unexpected(answer.reply.clone())),
                Some(Err(e)) => Err(e.clone()),
                None => Err(no_answer()),
            }
        });
        MultiGet::new(self.settle_many(verb, timing, keys, results, || None))
    }

    /// Runs one request per key.
    fn each<K: ToKey, R>(
        &self,
        verb: Verb,
        timing: Timing,
        keys: Vec<K>,
        requests: &impl Requests,
        miss: impl Fn() -> R,
        result: impl Fn(&Target<'_>, Answer) -> Result<R>,
    ) -> Outcomes<K, R> {
        let wired = Wired::new(self, &keys);
        let check = |place| self.check_open().and_then(|()| requests.check(place));
        let plan = Plan::new(self, &keys, &wired, false, check);
        let shape = Each { verb, plan: &plan, requests };
        let mut answers = self.fan_out(&plan.targets, &shape, timing).into_iter();
        let mut targets = plan.targets.iter();
        let results = plan.items.iter().enumerate().map(|(place, item)| {
            item.as_ref().map_err(Clone::clone)?;
            // Items and answers have the same order, and each key its own item.
            match (answers.next(), targets.next()) {
                (Some(answer), Some(target)) => {
                    result(target, answer.map_err(|e| requests.explain(place, e))?)
                }
                _ => Err(no_answer()),
            }
        });
        let results: Vec<_> = results.collect();
        Outcomes::new(self.settle_many(verb, timing, keys, results, miss))
    }

    /// Gives each error its context, tells the first one, and turns outages into `miss` where that is asked for.
    fn settle_many<K: ToKey, R>(
        &self,
        verb: Verb,
        timing: Timing,
        keys: Vec<K>,
        results: impl IntoIterator<Item = Result<R>>,
        miss: impl Fn() -> R,
    ) -> Vec<(K, Result<R>)> {
        let mut told = false;
        let entries = keys.into_iter().zip(results).map(|(key, result)| {
            let result = result.or_else(|e| {
                let key = key.to_key();
                // As sent, or as given when it could not be.
                let wire = self.wire(key);
                let sent = wire.as_ref().map_or(key.bytes, |wire| wire.as_bytes());
                let e = e.with_call(verb, Some(sent)).with_elapsed(timing.started.elapsed());
                if !std::mem::replace(&mut told, true) {
                    self.report(&e);
                }
                self.absorb(e, &miss)
            });
            (key, result)
        });
        entries.collect()
    }
}

/// Every item has an answer; should one be without, that is no miss and no success.
fn no_answer() -> Error {
    Error::new(ErrorKind::Protocol, "there is no answer")
}
