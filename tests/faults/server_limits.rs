//! Faults at a server's limits.

use std::time::{Duration, Instant};

use mcpool::{Client, Ttl};

use crate::support::memcached::Memcached;

#[test]
fn f231_at_the_servers_connection_limit_calls_end_in_time_and_no_half_open_sockets_pile_up() {
    let server = Memcached::start_with(&["-c", "40", "-o", "no_maxconns_fast"]);
    let client = Client::builder()
        .servers(server.address())
        .min_connections(0)
        .max_connections(64)
        .timeout(Duration::from_millis(600))
        .build()
        .expect("built");
    std::thread::scope(|scope| {
        for t in 0..64 {
            let client = &client;
            scope.spawn(move || {
                for n in 0..5 {
                    let started = Instant::now();
                    if let Err(e) = client.set(format!("k{t}:{n}"), "v", Ttl::NEVER) {
                        assert!(e.may_retry(), "{e}");
                    }
                    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
                }
            });
        }
    });
    let pool = &client.status().servers[0];
    assert_eq!(pool.idle, pool.connections, "nothing is left open without a use: {pool:?}");
}

#[test]
fn f232_few_connections_are_opened_by_default_and_none_when_the_minimum_is_zero() {
    let servers: Vec<_> = (0..3).map(|_| Memcached::start()).collect();
    let addresses: Vec<_> = servers.iter().map(Memcached::address).collect();
    let none = Client::builder().servers(&addresses[..]).min_connections(0).build().expect("built");
    assert!(none.status().servers.iter().all(|s| s.connections == 0));
    none.get::<String>("k").expect("read");
    assert_eq!(none.status().servers.iter().map(|s| s.connections).sum::<usize>(), 1);
    let one_each = Client::new(&addresses[..]).expect("built");
    let started = Instant::now();
    // A connection still being opened counts too; only an idle one is ready for the call below.
    while one_each.status().servers.iter().any(|s| s.idle == 0) {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "the minimum is kept in the background"
        );
        std::thread::yield_now();
    }
    one_each.get::<String>("k").expect("read");
    assert!(one_each.status().servers.iter().all(|s| s.connections == 1));
}
