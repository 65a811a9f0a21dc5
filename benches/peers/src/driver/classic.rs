//! `memcache`, its stable client, with as many connections as there are threads unless they are capped.

use std::time::Duration;

use memcache::Client;

use super::values::{Element, Map};
use super::{Peer, Session};
use crate::Outcome;

/// One for each thread of the largest workload; its own default is one connection.
const CONNECTIONS: u32 = 100;

pub(super) fn connect(servers: &[String], connections: u32) -> Outcome<Client> {
    let mut builder = Client::builder()
        .with_max_pool_size(if connections == 0 { CONNECTIONS } else { connections })
        .with_connection_timeout(Duration::from_secs(10))
        .with_read_timeout(Duration::from_secs(10));
    for server in servers {
        builder = builder.add_server(format!("memcache://{server}?tcp_nodelay=true"))?;
    }
    Ok(builder.build()?)
}

impl Peer for Client {
    fn session(&self) -> Outcome<Box<dyn Session + '_>> {
        Ok(Box::new(self))
    }
}

impl Session for &Client {
    fn set(&mut self, key: &str, value: &str) -> Outcome<()> {
        Ok(Client::set(self, key, value, 0)?)
    }

    fn get(&mut self, key: &str) -> Outcome<Option<String>> {
        Ok(Client::get(self, key)?)
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        Client::delete(self, key)?;
        Ok(())
    }

    fn set_map(&mut self, key: &str, map: &Map) -> Outcome<()> {
        Ok(Client::set(self, key, serde_json::to_string(map)?, 0)?)
    }

    fn get_map(&mut self, key: &str) -> Outcome<Option<Map>> {
        let json = Client::get::<Vec<u8>>(self, key)?;
        Ok(json.map(|json| serde_json::from_slice(&json)).transpose()?)
    }

    fn set_element(&mut self, key: &str, element: &Element) -> Outcome<()> {
        Ok(Client::set(self, key, serde_json::to_string(element)?, 0)?)
    }

    fn get_many(&mut self, keys: &[String]) -> Outcome<usize> {
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        Ok(Client::gets::<String>(self, &keys)?.len())
    }
}
