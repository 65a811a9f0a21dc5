//! The classic first program: a pool, a thousand values in, a thousand values out.
//!
//! `cargo run --example quickstart`, on the servers in `MEMCACHED_SERVERS` when that is set.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ServerList, Ttl};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Without a memcached of yours an embedded one serves; it lives as long as this variable.
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

    // All settings have defaults. `build` checks them and connects to nothing: the maintenance thread
    // opens the initial connections in the background.
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
        let stored = client.set(i.to_string(), "Hello!", Ttl::NEVER);
        println!("set( {i} ): {}", stored.is_ok());
        // The error says on which server what went wrong, and what can be done.
        stored?;
    }
    for i in 0..1000 {
        // `None` is a miss: the server said that it has no such value.
        match client.get::<String>(i.to_string())? {
            Some(value) => println!("get( {i} ): {value}"),
            None => return Err(format!("get( {i} ): there is no value").into()),
        }
    }
    client.close();
    Ok(())
}
