//! `memcache::exp`, the experimental client of the same crate, keeping a connection for each thread unless capped.

use std::time::Duration;

use memcache::exp::{Json, Memcache, Ttl};

use super::values::{Element, Map};
use super::{Peer, Session};
use crate::Outcome;

/// One for each thread of the largest workload; by default it keeps eight.
const KEPT: usize = 100;

pub(super) fn connect(servers: &[String], connections: u32) -> Outcome<Memcache> {
    let connections = (connections > 0).then(|| usize::try_from(connections)).transpose()?;
    let builder = Memcache::builder()
        .max_idle(connections.unwrap_or(KEPT))
        .max_connections(connections)
        .timeout(Duration::from_secs(10));
    Ok(builder.connect(servers.iter().map(String::as_str))?)
}

impl Peer for Memcache {
    fn session(&self) -> Outcome<Box<dyn Session + '_>> {
        Ok(Box::new(self))
    }
}

impl Session for &Memcache {
    fn set(&mut self, key: &str, value: &str) -> Outcome<()> {
        Ok(Memcache::set(self, key, value, Ttl::NEVER)?)
    }

    fn get(&mut self, key: &str) -> Outcome<Option<String>> {
        Ok(Memcache::get(self, key)?)
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        Ok(Memcache::delete(self, key)?)
    }

    fn set_map(&mut self, key: &str, map: &Map) -> Outcome<()> {
        Ok(Memcache::set(self, key, Json(map), Ttl::NEVER)?)
    }

    fn get_map(&mut self, key: &str) -> Outcome<Option<Map>> {
        Ok(Memcache::get::<Json<Map>>(self, key)?.map(Json::into_inner))
    }

    fn set_element(&mut self, key: &str, element: &Element) -> Outcome<()> {
        Ok(Memcache::set(self, key, Json(element), Ttl::NEVER)?)
    }

    fn get_many(&mut self, keys: &[String]) -> Outcome<usize> {
        Ok(Memcache::get_many::<String, _>(self, keys.iter().map(String::as_str))?.len())
    }
}
