//! Calls for many keys while servers break off, have no room, are silent or busy: each key its right outcome.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what goes wrong here fails the test")]

use std::time::Duration;

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{Client, Failover, Ttl};

/// More than the kernel takes while the server does not read.
const LARGE: usize = 16 << 20;

#[test]
fn of_two_entries_for_one_key_the_later_stays_also_when_both_are_sent_again() {
    let server = TestServer::builder().max_item_size(2 * LARGE).start().expect("a server");
    let client = Client::builder()
        .servers(server.address())
        .timeout(Duration::from_secs(20))
        .build()
        .expect("a client");
    server.fault(Fault::CloseAfter(0), When::next(1).verb("set"));
    let entries = [("k", "early".to_owned()), ("k", "x".repeat(LARGE))];
    client.set_many(entries, Ttl::NEVER).into_result().expect("stored at the second attempt");
    let (value, _) = server.item("k").expect("there");
    assert_eq!(value.len(), LARGE);
}

#[test]
fn a_server_without_room_for_a_connection_is_passed_over() {
    let (full, other) = (TestServer::start().expect("one"), TestServer::start().expect("two"));
    let client = Client::new([full.address(), other.address()]).expect("a client");
    full.fault(Fault::TurnAway("ERROR Too many open connections\r\n".into()), When::always());
    let keys: Vec<String> = (0..20).map(|i| format!("k{i}")).collect();
    client.set_many(keys.iter().map(|k| (k, 1)), Ttl::NEVER).into_result().expect("stored");
    let found = client.get_many::<u32, _>(&keys).into_result().expect("read");
    assert!(found.iter().all(|(_, value)| *value == Some(1)), "{found:?}");
    assert!(keys.iter().all(|key| other.item(key).is_some()));
}

#[test]
fn a_silent_server_does_not_keep_keys_waiting_for_another_servers_busy_connection() {
    let servers = [TestServer::start().unwrap(), TestServer::start().unwrap()];
    let addresses: Vec<_> = servers.iter().map(TestServer::address).collect();
    let client = Client::builder()
        .servers(&addresses[..])
        .failover(Failover::Off)
        .max_connections(1)
        .timeout(Duration::from_secs(2))
        .maintenance_interval(Duration::ZERO)
        .build()
        .unwrap();
    let keys: Vec<String> = (0..40).map(|n| format!("key{n}")).collect();
    let of =
        |address: &str| keys.iter().find(|key| client.server_for(key).unwrap() == address).unwrap();
    // The second server's only connection is in use while the call for many keys starts.
    servers[1].fault(Fault::Late(Duration::from_millis(300)), When::next(1));
    servers[0].fault(Fault::Hang, When::always());
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| client.get::<u32>(of(&addresses[1])));
        assert!(servers[1].wait_for(
            |events| events.iter().any(|e| matches!(e, Event::Command { .. })),
            Duration::from_secs(10)
        ));
        for (key, outcome) in client.get_many::<u32, _>(&keys).outcomes().iter() {
            let home = client.server_for(key).unwrap();
            assert_eq!(outcome.is_err(), home == addresses[0], "{key} of {home}: {outcome:?}");
        }
        assert_eq!(busy.join().unwrap().unwrap(), None);
    });
}
