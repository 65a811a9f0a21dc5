//! mcpool, in each of the settings that are measured.

use std::time::Duration;

use mcpool::{Client, ClientBuilder, Ttl};

use super::values::{Element, Map};
use super::{Peer, Session};
use crate::Outcome;

type Setting = fn(ClientBuilder) -> ClientBuilder;

/// Every setting with the name that it has in the figures: the one place to add another.
pub(crate) const VARIANTS: &[(&str, Setting)] = &[
    ("mcpool", |defaults| defaults),
    ("mcpool-unshared", |defaults| defaults.share(false)),
    ("mcpool-poll", |defaults| defaults.busy_poll(Duration::from_micros(100))),
];

pub(super) fn connect(name: &str, servers: &[String], connections: u32) -> Outcome<Ours> {
    let (_, setting) =
        VARIANTS.iter().find(|(n, _)| *n == name).ok_or_else(|| format!("no client {name}"))?;
    // All clients are given the same patience, so that a busy machine makes nobody fail.
    let mut builder = Client::builder().servers(servers).timeout(Duration::from_secs(10));
    if connections > 0 {
        builder = builder.max_connections(connections);
    }
    Ok(Ours(setting(builder).build()?))
}

/// One client for all threads.
pub(super) struct Ours(Client);

impl Peer for Ours {
    fn session(&self) -> Outcome<Box<dyn Session + '_>> {
        Ok(Box::new(&self.0))
    }
}

impl Session for &Client {
    fn set(&mut self, key: &str, value: &str) -> Outcome<()> {
        Ok(Client::set(self, key, value, Ttl::NEVER)?)
    }

    fn get(&mut self, key: &str) -> Outcome<Option<String>> {
        Ok(Client::get(self, key)?)
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        Client::delete(self, key)?;
        Ok(())
    }

    fn set_map(&mut self, key: &str, map: &Map) -> Outcome<()> {
        Ok(Client::set(self, key, map, Ttl::NEVER)?)
    }

    fn get_map(&mut self, key: &str) -> Outcome<Option<Map>> {
        Ok(Client::get(self, key)?)
    }

    fn set_element(&mut self, key: &str, element: &Element) -> Outcome<()> {
        Ok(Client::set(self, key, element, Ttl::NEVER)?)
    }

    fn get_many(&mut self, keys: &[String]) -> Outcome<usize> {
        let found = Client::get_many::<String, _>(self, keys);
        match found.failures().next() {
            Some((key, e)) => Err(format!("{key}: {e}").into()),
            None => Ok(found.iter().count()),
        }
    }
}
