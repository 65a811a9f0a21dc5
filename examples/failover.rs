//! Two servers; one is stopped, the calls go on; it returns, and its keys come home.
//!
//! `cargo run --example failover`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{Client, NodeState, Ttl};

const KEYS: u32 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let servers = [TestServer::start()?, TestServer::start()?];
    let addresses: Vec<String> = servers.iter().map(TestServer::address).collect();
    let client =
        Client::builder().servers(&addresses[..]).timeout(Duration::from_secs(2)).build()?;

    round(&client, "both servers up")?;

    println!("stopping {}", addresses[0]);
    servers[0].stop();
    // The keys of the dead server are refused there and stored on the other one, within the same call.
    let slowest = round(&client, "one server down")?;
    println!("the slowest call took {slowest:?}");
    show(&client);

    println!("starting {} again", addresses[0]);
    servers[0].restart()?;
    // The maintenance thread asks the dead server for a key and lets it back in when it answers.
    let patience = Instant::now() + Duration::from_secs(10);
    while client.status().servers.iter().any(|s| s.state != NodeState::Up) {
        if Instant::now() > patience {
            return Err("the server did not come back".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    round(&client, "both servers up again")?;
    show(&client);
    Ok(())
}

/// Stores and reads every key; the time of the slowest call.
fn round(client: &Client, what: &str) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut slowest = Duration::ZERO;
    for n in 0..KEYS {
        let started = Instant::now();
        client.set(format!("key{n}"), &n, Ttl::NEVER)?;
        let found = client.get::<u32>(format!("key{n}"))?;
        slowest = slowest.max(started.elapsed());
        if found != Some(n) {
            return Err(format!("key{n}: {found:?}").into());
        }
    }
    println!("{what}: {KEYS} keys stored and read");
    Ok(slowest)
}

fn show(client: &Client) {
    for server in client.status().servers {
        println!(
            "  {}: {}, {} connections, {} calls went on to the other server",
            server.name, server.state, server.connections, server.failovers
        );
    }
}
