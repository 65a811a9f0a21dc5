//! Clusters of real memcacheds, and a view of them that trusts no client's placement.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use mcpool::{Client, ClientBuilder, Codec, Failover};

use crate::memcached::Memcached;

/// Long enough for a machine under load: what is tested here is not time.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A server as a client is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub addr: SocketAddr,
    pub weight: u32,
}

impl Place {
    /// As our client takes it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}?weight={}", self.addr, self.weight)
    }
}

/// Running memcacheds; ended when dropped.
#[derive(Debug)]
pub struct Cluster {
    servers: Vec<Memcached>,
}

impl Cluster {
    /// On free ports of 127.0.0.1.
    ///
    /// # Panics
    /// If one does not start.
    #[must_use]
    pub fn start(size: usize) -> Self {
        let servers = thread::scope(|scope| {
            let start = |_| scope.spawn(|| Memcached::start_with(&["-t", "1", "-I", "2m"]));
            let starting: Vec<_> = (0..size).map(start).collect();
            starting.into_iter().map(|one| one.join().expect("a memcached")).collect()
        });
        Self { servers }
    }

    /// All of them, with weight 1.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        self.servers.iter().map(|server| Place { addr: server.addr(), weight: 1 }).collect()
    }

    /// Which servers have each of these keys, found by asking every server for all.
    ///
    /// # Panics
    /// If a server does not answer.
    #[must_use]
    pub fn holders(&self, keys: &[String]) -> BTreeMap<String, Vec<SocketAddr>> {
        let mut holders = BTreeMap::new();
        for place in self.places() {
            let alone = client(&[place], |builder| builder.codec(Codec::Raw));
            for (key, found) in alone.get_many::<Vec<u8>, _>(keys).into_result().expect("answers") {
                if found.is_some() {
                    holders.entry(key.clone()).or_insert_with(Vec::new).push(place.addr);
                }
            }
        }
        holders
    }
}

/// Our client on these servers, with more settings.
///
/// # Panics
/// If a setting is wrong.
#[must_use]
pub fn client(servers: &[Place], settings: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
    let servers: Vec<String> = servers.iter().map(Place::text).collect();
    let builder = Client::builder()
        .timeout(TIMEOUT)
        .connect_timeout(TIMEOUT)
        // A key that goes astray must be seen.
        .failover(Failover::Off)
        .maintenance_interval(Duration::ZERO)
        .servers(servers);
    settings(builder).build().expect("the settings are right")
}
