//! Clusters of real memcacheds, and a view of them that trusts no client's placement.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use mcpool::{Client, ClientBuilder, Codec, Failover};

use crate::memcached::Memcached;

/// Long enough for a machine under load: what is tested here is not time.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A server as clients are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub addr: SocketAddr,
    pub weight: u32,
    /// What the peer is told in place of the IP address.
    pub host: String,
    /// The name by which ours is to know it.
    pub name: String,
}

impl Place {
    /// With weight 1, and known by its address.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        Self { addr, weight: 1, host: addr.ip().to_string(), name: addr.to_string() }
    }

    /// As our client takes it.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { addr, weight, host: _, name } = self;
        let name = if *name == addr.to_string() { String::new() } else { format!("&name={name}") };
        format!("{addr}?weight={weight}{name}")
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
        self.servers.iter().map(|server| Place::new(server.addr())).collect()
    }
}

/// Which of these servers have each of these keys, found by asking every server for all.
///
/// # Panics
/// If a server does not answer.
#[must_use]
pub fn holders(servers: &[Place], keys: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut holders = BTreeMap::new();
    for server in servers {
        let alone = client(std::slice::from_ref(server), |builder| builder.codec(Codec::Raw));
        for (key, found) in alone.get_many::<Vec<u8>, _>(keys).into_result().expect("answers") {
            if found.is_some() {
                holders.entry(key.clone()).or_insert_with(Vec::new).push(server.name.clone());
            }
        }
    }
    holders
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
