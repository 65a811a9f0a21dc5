//! Faults at a server's limits.

use std::time::Duration;

use mcpool::Ttl;

use crate::support::clients::{passive, patient};
use crate::support::memcached::Memcached;
use crate::support::watch::{SLACK, timed, until};

#[test]
fn f231_at_the_servers_connection_limit_calls_end_in_time_and_no_half_open_sockets_pile_up() {
    let server = Memcached::start_with(&["-c", "40", "-o", "no_maxconns_fast"]);
    let client = passive(server.address())
        .max_connections(64)
        .connect_timeout(Duration::from_millis(250))
        .timeout(Duration::from_millis(600))
        .build()
        .expect("built");
    std::thread::scope(|scope| {
        for t in 0..64 {
            let client = &client;
            scope.spawn(move || {
                for n in 0..5 {
                    let (stored, took) = timed(|| client.set(format!("k{t}:{n}"), "v", Ttl::NEVER));
                    assert!(stored.is_ok() || stored.is_err_and(|e| e.may_retry()));
                    assert!(took < client.timeout() + SLACK, "{took:?}");
                }
            });
        }
    });
    // Upkeep may just be knocking.
    until("nothing is left open without a use", || {
        let pool = &client.status().servers[0];
        pool.idle == pool.connections
    });
}

#[test]
fn f232_few_connections_are_opened_by_default_and_none_when_the_minimum_is_zero() {
    let servers: Vec<_> = (0..3).map(|_| Memcached::start()).collect();
    let addresses: Vec<_> = servers.iter().map(Memcached::address).collect();
    let none = passive(&addresses[..]).build().expect("built");
    assert!(none.status().servers.iter().all(|s| s.connections == 0));
    none.get::<String>("k").expect("read");
    assert_eq!(none.status().servers.iter().map(|s| s.connections).sum::<usize>(), 1);
    let one_each = patient(&addresses[..]).build().expect("built");
    // A connection still being opened counts too; only an idle one is ready for the call below.
    until("the minimum is kept in the background", || {
        one_each.status().servers.iter().all(|s| s.idle == 1)
    });
    one_each.get::<String>("k").expect("read");
    assert!(one_each.status().servers.iter().all(|s| s.connections == 1));
}
