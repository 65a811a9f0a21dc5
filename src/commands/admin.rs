//! Calls about the servers themselves: each server answers, or fails, for itself.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use super::reply::unexpected;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Batch, Reply, Request, StatsArgument};
use crate::router::{Part, Shape, Target};
use crate::types::{ToKey, Ttl};

/// One result for each server, in the order given to the builder.
#[derive(Debug, Clone)]
#[must_use = "each server has a result of its own, and some may have failed"]
pub struct PerServer<T>(Vec<(String, Result<T>)>);

impl<T> PerServer<T> {
    /// The result of the server with this name.
    pub fn server(&self, name: &str) -> Option<&Result<T>> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, r)| r)
    }

    /// Every server's name with its result.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Result<T>)> {
        self.0.iter().map(|(n, r)| (n.as_str(), r))
    }

    /// Every server's result, or the first error.
    ///
    /// # Errors
    /// That of the first server that failed.
    pub fn into_result(self) -> Result<Vec<(String, T)>> {
        self.0.into_iter().map(|(n, r)| r.map(|r| (n, r))).collect()
    }
}

impl<T> IntoIterator for PerServer<T> {
    type Item = (String, Result<T>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A key that a server holds, as `lru_crawler metadump` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpedKey {
    /// The key's bytes, with prefix.
    pub key: Vec<u8>,
    /// When it expires; `None` is never.
    pub expires: Option<SystemTime>,
    /// The size of the whole item on the server, in bytes.
    pub size: Option<u64>,
}

impl Client {
    /// Each server's statistics, by name.
    ///
    /// ```
    /// # let server = mcpool::testing::TestServer::start()?;
    /// # let client = mcpool::Client::new(server.address())?;
    /// for (server, stats) in client.stats().into_result()? {
    ///     println!("{server} holds {} items", stats["curr_items"]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> PerServer<BTreeMap<String, String>> {
        self.on_every_server(Request::Stats { argument: None }, pairs)
    }

    /// Each server's statistics of one kind: `items`, `slabs`, `settings`, `sizes`, `conns`, `cachedump 1 10`, ….
    ///
    /// An empty or unprintable kind is [`ErrorKind::Config`] for every server; one that a server does not know
    /// is its own error, mostly [`ErrorKind::Refused`].
    pub fn stats_of(&self, kind: &str) -> PerServer<BTreeMap<String, String>> {
        let Some(argument) = StatsArgument::new(kind) else {
            let e =
                Error::new(ErrorKind::Config, "the kind of statistics has to be printable words");
            return self.per_server("stats", |_| Err(e.clone()));
        };
        self.on_every_server(Request::Stats { argument: Some(argument) }, pairs)
    }

    /// The keys each server holds, in no order.
    ///
    /// On a large server this is a long reply: use a handle with a longer [`timeout`](Self::with_timeout). At most
    /// 64 MiB of key lines are read from a server; more is an error.
    ///
    /// It needs memcached 1.4.31 or newer with its LRU crawler on (`lru_crawler metadump`). A server whose crawler is
    /// at work, which it is now and then by itself, refuses with `BUSY …`: ask again after a while.
    pub fn dump_keys(&self) -> PerServer<Vec<DumpedKey>> {
        self.on_every_server(Request::DumpKeys, |reply| match reply {
            Reply::Lines(lines) => Ok(lines.iter().filter_map(|line| dumped(line)).collect()),
            other => Err(unexpected(other)),
        })
    }

    /// Forgets everything on every server, at once or after a delay (whole seconds, rounded up).
    ///
    /// As memcached has it, a delayed flush also takes what was stored after this call.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidTtl`] for every server when the delay ends past 2038-01-19; else each server's own.
    pub fn flush_all(&self, delay: Duration) -> PerServer<()> {
        let delay = match delay {
            Duration::ZERO => Ok(0),
            // Beyond 30 days it has to be a date, as an expiry time has.
            later => Ttl::from(later).wire(SystemTime::now()),
        };
        match delay {
            Ok(seconds) => {
                let delay = u32::try_from(seconds).ok().filter(|seconds| *seconds > 0);
                self.on_every_server(Request::FlushAll { delay }, done)
            }
            Err(e) => self.per_server("flush_all", |_| Err(e.into())),
        }
    }

    /// Each server's version.
    pub fn version(&self) -> PerServer<String> {
        self.on_every_server(Request::Version, |reply| match reply {
            Reply::Version(version) => Ok(version),
            other => Err(unexpected(other)),
        })
    }

    /// Sets how much each server logs; 0 is the least.
    pub fn verbosity(&self, level: u32) -> PerServer<()> {
        self.on_every_server(Request::Verbosity { level }, done)
    }

    /// The name of the server that a key lives on while every server is up.
    ///
    /// # Errors
    /// A bad key.
    pub fn server_for(&self, key: impl ToKey) -> Result<String> {
        let key = key.to_key();
        let wire = self.wire(key)?;
        let place = key.place(wire.as_bytes(), self.unhashed());
        let home = self.router().home(&Target { place, hash: key.hash, only: None });
        Ok(self.router().name(home).to_string())
    }

    /// Opens connections to every server that is up, until the larger of `initial_connections` and `min_connections` are open.
    ///
    /// The number newly opened, or the server's error. Servers are visited in turn, each with the time of one call.
    pub fn warm_up(&self) -> PerServer<usize> {
        self.per_server("warm_up", |node| self.check_open().and_then(|()| self.warm_up_node(node)))
    }

    /// Lets a server that is down or out be used again at once; `false` if no server has that name.
    pub fn restore(&self, server: &str) -> bool {
        let Ok(router) = self.own_router(self.timing().deadline) else { return false };
        let mut nodes = router.nodes().iter();
        nodes.find(|n| &**n.name() == server).map(|n| n.restore()).is_some()
    }

    /// Lets every server be used again at once.
    pub fn restore_all(&self) {
        if let Ok(router) = self.own_router(self.timing().deadline) {
            router.nodes().iter().for_each(|node| node.restore());
        }
    }

    fn warm_up_node(&self, node: usize) -> Result<usize> {
        let deadline = self.timing().deadline;
        let Some(node) = self.own_router(deadline)?.nodes().get(node) else { return Ok(0) };
        node.warm_up(deadline).map_err(Error::from)
    }

    /// One result a server, without a common request; the error of each that failed is told.
    fn per_server<T>(
        &self,
        method: &'static str,
        run: impl Fn(usize) -> Result<T>,
    ) -> PerServer<T> {
        let nodes = self.router().nodes().iter().enumerate();
        let results = nodes.map(|(i, node)| {
            let started = Instant::now();
            let outcome = run(i).map_err(|e| {
                let e = e.with_server(node.name()).with_method(method);
                e.with_elapsed(started.elapsed())
            });
            if let Err(e) = &outcome {
                self.report(e);
            }
            (node.name().to_string(), outcome)
        });
        PerServer(results.collect())
    }

    /// Sends one request to every server at once.
    fn on_every_server<T>(
        &self,
        request: Request<'_, '_>,
        result: impl Fn(Reply) -> Result<T>,
    ) -> PerServer<T> {
        let timing = self.timing();
        if let Err(e) = self.check_open() {
            return self.per_server(request.verb().name(), |_| Err(e.clone()));
        }
        let nodes = 0..self.router().nodes().len();
        let targets: Vec<_> =
            nodes.map(|i| Target { place: &[], hash: None, only: Some(i) }).collect();
        let answers = self.fan_out(&targets, &Admin(request), timing);
        let names = self.router().nodes().iter().map(|node| node.name().clone());
        let results = names.zip(answers).map(|(name, answer)| {
            let outcome = answer.and_then(|a| result(a.reply)).map_err(|e| {
                let elapsed = Instant::now().saturating_duration_since(timing.started);
                e.with_server(&name).with_call(request.verb(), None).with_elapsed(elapsed)
            });
            if let Err(e) = &outcome {
                self.report(e);
            }
            (name.to_string(), outcome)
        });
        PerServer(results.collect())
    }
}

/// The same request for every node.
struct Admin<'a>(Request<'a, 'a>);

impl<'a> Shape<'a> for Admin<'a> {
    fn verb(&self) -> crate::protocol::Verb {
        self.0.verb()
    }

    fn batch(&self, _: &[usize]) -> Batch<'a> {
        let mut batch = Batch::new();
        batch.push(&self.0);
        batch
    }

    fn unpack(
        &self,
        items: &[usize],
        replies: Vec<Option<Reply>>,
        sent: usize,
        mut give: impl FnMut(usize, Part),
    ) {
        let part = Part::of(replies.into_iter().next().flatten(), 0, sent);
        if let Some(item) = items.first() {
            give(*item, part);
        }
    }
}

fn pairs(reply: Reply) -> Result<BTreeMap<String, String>> {
    match reply {
        Reply::Pairs(pairs) => Ok(pairs.into_iter().collect()),
        // `stats reset` answers without figures.
        Reply::Done => Ok(BTreeMap::new()),
        other => Err(unexpected(other)),
    }
}

fn done(reply: Reply) -> Result<()> {
    match reply {
        Reply::Done => Ok(()),
        other => Err(unexpected(other)),
    }
}

/// One line of a key dump: `key=… exp=… la=… cas=… fetch=… cls=… size=…`, the key URL-encoded.
fn dumped(line: &[u8]) -> Option<DumpedKey> {
    let field = |name: &str| {
        let mut fields = line.split(|b| *b == b' ');
        fields.find_map(|f| f.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    let figure = |name| std::str::from_utf8(field(name)?).ok()?.parse::<i64>().ok();
    let seconds = figure("exp").and_then(|s| u64::try_from(s).ok());
    Some(DumpedKey {
        key: url_decoded(field("key")?),
        expires: seconds.and_then(|s| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(s))),
        size: figure("size").and_then(|n| u64::try_from(n).ok()),
    })
}

/// Bytes with each `%XX` taken back; anything else stays.
fn url_decoded(text: &[u8]) -> Vec<u8> {
    let hex = |at: usize| (*text.get(at)? as char).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(high << 4 | low);
                at += 3;
            }
            _ => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumped_key_is_decoded_and_dated() {
        let line = b"key=user%3A42 exp=1700000000 la=1699999999 cas=3 fetch=no cls=1 size=64";
        let key = dumped(line).expect("a key");
        assert_eq!(key.key, b"user:42");
        assert_eq!(key.expires, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)));
        assert_eq!(key.size, Some(64));
        assert_eq!(dumped(b"key=a exp=-1").map(|k| k.expires), Some(None));
        assert_eq!(dumped(b"nonsense"), None);
        assert_eq!(url_decoded(b"100%zz%4"), b"100%zz%4");
    }
}
