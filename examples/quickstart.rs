//! The classic first program: a pool, a thousand values in, a thousand values out.
//!
//! `cargo run --example quickstart`, on the servers in `MEMCACHED_SERVERS` when that is set.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ServerList, Ttl};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The embedded server lives as long as this variable.
    let mut embedded = None;
    let servers = match ServerList::from_env() {
        Some(servers) => servers,
        None => {
            let server = embedded.insert(TestServer::start()?);
            println!(
                "MEMCACHED_SERVERS is not set: using an embedded server on {}",
                server.address()
            );
            server.address().into()
        }
    };

    let client = Client::builder()
        .servers(servers)
        .initial_connections(10)
        .min_connections(5)
        .max_connections(250)
        .maintenance_interval(Duration::from_secs(30))
        .nodelay(true)
        .timeout(Duration::from_secs(3))
        .alive_check(true)
        .build()?;

    for i in 0..1000 {
        let stored = client.set(i.to_string(), "Hello!", Ttl::NEVER).is_ok();
        println!("set( {i} ): {stored}");
        if !stored {
            return Err(format!("set( {i} ) failed").into());
        }
    }
    for i in 0..1000 {
        match client.get::<String>(i.to_string())? {
            Some(value) => println!("get( {i} ): {value}"),
            None => return Err(format!("get( {i} ): there is no value").into()),
        }
    }
    client.close();
    Ok(())
}
