//! Calls for many keys: every server is asked at once, every key gets its own outcome.

use std::ops::Range;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::get::Item;
use super::outcomes::{MultiGet, Outcomes};
use super::plan::{Plan, Wired};
use super::reply::{unexpected, value};
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Batch, Hits, Reply, Request, StoreVerb, Value, Verb};
use crate::router::{Answer, Part, Shape, Target, Timing};
use crate::types::{ToKey, Ttl, TtlError};

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
        self.read_many(keys, true, |v, node| self.item(v, node))
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
        let keys = keys.into_iter().collect();
        self.each(
            Verb::Delete,
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
        decode: impl Fn(Value, usize) -> Result<R>,
    ) -> MultiGet<K, R> {
        let timing = self.timing();
        let keys: Vec<K> = keys.into_iter().collect();
        let wired = Wired::new(self, &keys, |_| self.check_open());
        let plan = wired.plan_distinct(&keys);
        let shape = Gets { keys: &plan.keys, cas };
        let mut answers = Answers::new(self.fan_out(&plan.targets, &shape, timing), &plan.items);
        let results = plan.items.iter().map(|item| {
            let answer = answers.next_use(*item.as_ref().map_err(Clone::clone)?)?;
            let found = value(answer.reply)?;
            found.map(|v| decode(v, answer.node)).transpose()
        });
        let results = results.collect();
        MultiGet::new(self.settle_many(shape.verb(), timing, keys, results, || None))
    }

    /// Runs one request per key.
    fn each<K: ToKey, R>(
        &self,
        verb: Verb,
        keys: Vec<K>,
        requests: &impl Requests,
        miss: impl Fn() -> R,
        result: impl Fn(&Target<'_>, Answer) -> Result<R>,
    ) -> Outcomes<K, R> {
        let timing = self.timing();
        let wired = Wired::new(self, &keys, |i| self.check_open().and_then(|()| requests.check(i)));
        let plan = wired.plan(&keys);
        let shape = Each { verb, plan: &plan, requests };
        let mut answers = self.fan_out(&plan.targets, &shape, timing).into_iter();
        let mut targets = plan.targets.iter();
        let results = plan.items.iter().map(|item| {
            item.as_ref().map_err(Clone::clone)?;
            // Items and answers have the same order, and each key its own item.
            match (answers.next(), targets.next()) {
                (Some(answer), Some(target)) => result(target, answer?),
                _ => Ok(miss()),
            }
        });
        let results = results.collect();
        Outcomes::new(self.settle_many(verb, timing, keys, results, miss))
    }

    /// Gives each error its context, tells the first one, and turns outages into `miss` where that is asked for.
    fn settle_many<K: ToKey, R>(
        &self,
        verb: Verb,
        timing: Timing,
        keys: Vec<K>,
        results: Vec<Result<R>>,
        miss: impl Fn() -> R,
    ) -> Vec<(K, Result<R>)> {
        let elapsed = timing.started.elapsed();
        let mut told = false;
        let entries = keys.into_iter().zip(results).map(|(key, result)| {
            let result = result.or_else(|e| {
                let e = e.with_call(verb, Some(key.to_key().bytes)).with_elapsed(elapsed);
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

/// The requests of a call, one for each of its keys.
trait Requests {
    /// Whether there is something to send for the key at `place`.
    fn check(&self, place: usize) -> Result<()>;

    fn request<'a>(&'a self, place: usize, key: &'a [u8]) -> Request<'a, 'a>;
}

struct Deletes;

impl Requests for Deletes {
    fn check(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn request<'a>(&'a self, _: usize, key: &'a [u8]) -> Request<'a, 'a> {
        Request::Delete { key }
    }
}

/// Encoded values, one behind the other.
#[derive(Default)]
struct Encoded {
    bytes: Vec<u8>,
    /// Flags and place of each, or why it has none.
    values: Vec<Result<(u32, Range<usize>)>>,
}

impl Encoded {
    fn add<V: Serialize>(&mut self, client: &Client, value: &V) {
        let start = self.bytes.len();
        let encoded = client.codec().encode(value, &mut self.bytes).map_err(Error::from);
        let encoded = encoded.and_then(|flags| {
            client.check_size(self.bytes.len() - start)?;
            Ok((flags, start..self.bytes.len()))
        });
        self.values.push(encoded);
    }
}

/// The stores of a `set_many`.
struct Values {
    exptime: Result<i32, TtlError>,
    encoded: Encoded,
}

impl Requests for Values {
    fn check(&self, place: usize) -> Result<()> {
        self.exptime?;
        match self.encoded.values.get(place) {
            Some(Err(e)) => Err(e.clone()),
            _ => Ok(()),
        }
    }

    fn request<'a>(&'a self, place: usize, key: &'a [u8]) -> Request<'a, 'a> {
        let exptime = self.exptime.unwrap_or(0);
        let (flags, at) = match self.encoded.values.get(place) {
            Some(Ok((flags, at))) => (*flags, at.clone()),
            _ => (0, 0..0),
        };
        let value = self.encoded.bytes.get(at).unwrap_or_default();
        Request::Store { verb: StoreVerb::Set, key, flags, exptime, value }
    }
}

/// One read of all keys of a node.
struct Gets<'p, 'a> {
    keys: &'p [&'a [u8]],
    cas: bool,
}

impl<'a> Shape<'a> for Gets<'_, 'a> {
    fn verb(&self) -> Verb {
        if self.cas { Verb::Gets } else { Verb::Get }
    }

    fn batch(&self, items: &[usize]) -> Batch<'a> {
        let keys: Vec<&[u8]> = items.iter().filter_map(|i| self.keys.get(*i).copied()).collect();
        let mut batch = Batch::new();
        batch.push(&Request::Get { keys: &keys, cas: self.cas });
        batch
    }

    fn unpack(
        &self,
        items: &[usize],
        replies: Vec<Option<Reply>>,
        sent: usize,
    ) -> Vec<(usize, Part)> {
        let missing = || if sent == 0 { Part::Unsent } else { Part::InDoubt };
        match replies.into_iter().next().flatten() {
            Some(Reply::Values(hits)) => spread(items, hits),
            // One key has one value; a refusal is each key's.
            Some(reply) => items.iter().map(|i| (*i, Part::Reply(reply.clone()))).collect(),
            None => items.iter().map(|i| (*i, missing())).collect(),
        }
    }
}

/// Hits and refusals to the items they belong to; the others are misses.
fn spread(items: &[usize], hits: Hits) -> Vec<(usize, Part)> {
    let mut replies: Vec<Reply> = items.iter().map(|_| Reply::Value(None)).collect();
    for (range, refusal) in hits.refused {
        for at in range {
            if let Some(reply) = usize::try_from(at).ok().and_then(|at| replies.get_mut(at)) {
                *reply = Reply::Refused(refusal.clone());
            }
        }
    }
    for value in hits.values {
        if let Some(reply) = usize::try_from(value.index).ok().and_then(|at| replies.get_mut(at)) {
            *reply = Reply::Value(Some(value));
        }
    }
    items.iter().copied().zip(replies.into_iter().map(Part::Reply)).collect()
}

/// A request for each key of a node.
struct Each<'p, 'a, R> {
    verb: Verb,
    plan: &'p Plan<'a>,
    requests: &'a R,
}

impl<'a, R: Requests> Shape<'a> for Each<'_, 'a, R> {
    fn verb(&self) -> Verb {
        self.verb
    }

    fn batch(&self, items: &[usize]) -> Batch<'a> {
        let mut batch = Batch::new();
        for item in items {
            if let (Some(key), Some(place)) =
                (self.plan.keys.get(*item), self.plan.places.get(*item))
            {
                batch.push(&self.requests.request(*place, key));
            }
        }
        batch
    }

    fn unpack(
        &self,
        items: &[usize],
        replies: Vec<Option<Reply>>,
        sent: usize,
    ) -> Vec<(usize, Part)> {
        let mut replies = replies.into_iter();
        let parts = items.iter().enumerate().map(|(at, item)| {
            let part = match replies.next().flatten() {
                Some(reply) => Part::Reply(reply),
                None if at < sent => Part::InDoubt,
                None => Part::Unsent,
            };
            (*item, part)
        });
        parts.collect()
    }
}

/// Answers of which some serve several keys.
struct Answers {
    answers: Vec<Option<Result<Answer>>>,
    uses: Vec<usize>,
}

impl Answers {
    fn new(answers: Vec<Result<Answer>>, items: &[Result<usize>]) -> Self {
        let mut uses = vec![0; answers.len()];
        for item in items.iter().flatten() {
            if let Some(n) = uses.get_mut(*item) {
                *n += 1;
            }
        }
        Self { answers: answers.into_iter().map(Some).collect(), uses }
    }

    /// The answer to an item; the last use takes it, earlier ones copy it.
    fn next_use(&mut self, item: usize) -> Result<Answer> {
        let (Some(answer), Some(uses)) = (self.answers.get_mut(item), self.uses.get_mut(item))
        else {
            return Err(Error::new(ErrorKind::Protocol, "there is no answer"));
        };
        *uses -= 1;
        let answer = if *uses == 0 { answer.take() } else { answer.clone() };
        answer.unwrap_or_else(|| Err(Error::new(ErrorKind::Protocol, "there is no answer")))
    }
}
