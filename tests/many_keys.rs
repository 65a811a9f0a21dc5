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

/// The keys `k0` and up, of which `k0`, `k2`, `k4` … have their own name as value.
fn half_stored(server: &TestServer, client: &Client, keys: usize) -> Vec<String> {
    let keys: Vec<String> = (0..keys).map(|i| format!("k{i}")).collect();
    let stored = client.set_many(keys.iter().step_by(2).map(|key| (key, key)), Ttl::NEVER);
    stored.into_result().expect("stored");
    server.clear_events();
    keys
}

fn with_timeout(server: &TestServer, timeout: Duration) -> Client {
    let builder = Client::builder().servers(server.address()).timeout(timeout);
    builder.max_value_bytes(1000).build().expect("a client")
}

/// How each key came out: its value, `-` for a miss, or its error's kind; by both reads, which must agree.
fn outcomes(client: &Client, keys: &[String], fault: impl Fn()) -> Vec<String> {
    let tell = |outcome: Result<Option<String>, mcpool::ErrorKind>| match outcome {
        Ok(Some(value)) => value,
        Ok(None) => "-".to_owned(),
        Err(kind) => format!("{kind:?}"),
    };
    let kind = |e: &mcpool::Error| e.kind();
    fault();
    let plain = client.get_many::<String, _>(keys);
    let plain = plain.outcomes().iter().map(|(_, o)| o.as_ref().map_err(kind).cloned());
    let plain: Vec<_> = plain.map(tell).collect();
    fault();
    let with_tokens = client.gets_many::<String, _>(keys);
    let with_tokens = with_tokens.outcomes().iter().map(|(_, outcome)| {
        outcome.as_ref().map(|found| found.as_ref().map(|v| v.value.clone())).map_err(kind)
    });
    assert_eq!(with_tokens.map(tell).collect::<Vec<_>>(), plain);
    plain
}

/// What [`outcomes`] says of keys that are answered as they are stored.
fn right(keys: &[String]) -> Vec<String> {
    let half = |(i, key): (usize, &String)| if i % 2 == 0 { key.clone() } else { "-".to_owned() };
    keys.iter().enumerate().map(half).collect()
}

#[test]
fn keys_answered_before_the_server_fell_silent_keep_their_values_and_misses() {
    let server = TestServer::start().expect("a server");
    let client = with_timeout(&server, Duration::from_millis(500));
    // They go out as two lines, of which the second is not answered.
    let keys = half_stored(&server, &client, 150);
    let found = outcomes(&client, &keys, || {
        server.clear_faults();
        server.fault(Fault::Hang, When::always().after(1));
    });
    assert_eq!(found[..100], right(&keys)[..100]);
    assert!(found[100..].iter().all(|outcome| outcome == "Timeout"), "{found:?}");
}

#[test]
fn values_that_came_before_the_connection_broke_are_kept_and_only_the_others_asked_for_again() {
    let server = TestServer::start().expect("a server");
    let client = with_timeout(&server, Duration::from_secs(20));
    let keys = half_stored(&server, &client, 6);
    // Behind the first value, before the end of the second.
    let cut = || server.fault(Fault::CloseAfter(32), When::next(1));
    assert_eq!(outcomes(&client, &keys, cut), right(&keys));
    let asked = |event: Event| match event {
        Event::Command { line, .. } => Some(line),
        _ => None,
    };
    let asked: Vec<String> = server.events().into_iter().filter_map(asked).collect();
    let again = ["get k0 k1 k2 k3 k4 k5", "get k1 k2 k3 k4 k5"];
    assert_eq!(asked[..2], again);
    assert_eq!(asked[2..], again.map(|line| line.replace("get", "gets")));
    server.fault(Fault::CloseAfter(32), When::always().verb("get"));
    let lost = client.get_many::<String, _>(&keys);
    // The second attempt brings the next one.
    assert_eq!(["k0", "k2"].map(|key| lost.get(key).map(String::as_str)), [Some("k0"), Some("k2")]);
    assert_eq!(lost.failures().count(), 4);
}

#[test]
fn a_value_too_large_to_be_read_is_the_error_of_its_own_key() {
    let server = TestServer::start().expect("a server");
    let client = with_timeout(&server, Duration::from_secs(20));
    let keys = half_stored(&server, &client, 150);
    let mut expected = right(&keys);
    for large in [0, 3, 4, 77, 99, 100, 149] {
        server.put(&keys[large], "x".repeat(1001), 0);
        expected[large] = "ValueTooLarge".to_owned();
    }
    assert_eq!(outcomes(&client, &keys, || {}), expected);
}

#[test]
fn keys_answered_in_front_of_garbage_keep_their_values_and_no_miss_is_believed_without_proof() {
    let server = TestServer::start().expect("a server");
    let client = with_timeout(&server, Duration::from_secs(20));
    let keys = half_stored(&server, &client, 6);
    for garbage in ["VALUE k0 0 2 1\r\nk0\r\nWAT\r\n", "WAT\r\n", "END\r\nWAT\r\n"] {
        let lie = || server.fault(Fault::Reply(garbage.into()), When::next(1));
        assert_eq!(outcomes(&client, &keys, lie), right(&keys), "{garbage}");
    }
}
