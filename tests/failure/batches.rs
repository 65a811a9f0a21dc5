//! Calls for many keys: larger than every buffer, over several servers, one of which may be dead or slow.

use std::thread;
use std::time::Duration;

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{Client, ErrorKind, Failover, NodeState, Ttl};

use super::common::{OVERSHOOT, busy, quiet};
use crate::support::blackhole::blackhole;
use crate::support::clients::{keys_on, state, status, steady};
use crate::support::memcached::Memcached;
use crate::support::watch::{HANG, timed};

#[test]
fn batches_larger_than_all_buffers_go_out_and_come_back_without_a_dead_lock() {
    const KEYS: usize = 20_000;
    let _busy = busy();
    let server = Memcached::start_with(&["-m", "256"]);
    let client =
        Client::builder().servers(server.address()).timeout(HANG).build().expect("settings");
    // 250 bytes a key, so that also the requests of the reads exceed what the sockets hold.
    let key = |i: usize| format!("{i:0>250}");
    let value = |i: usize| format!("{i} {}", "x".repeat(4096));
    let entries = (0..KEYS).map(|i| (key(i), value(i)));
    let stored = client.set_many(entries, Ttl::NEVER);
    assert_eq!(stored.into_result().expect("stored").len(), KEYS);
    let found = client.get_many::<String, _>((0..KEYS).map(key)).into_result().expect("read");
    for (i, (_, found)) in found.into_iter().enumerate() {
        assert_eq!(found.expect("there"), value(i));
    }
    let deleted = client.delete_many((0..KEYS).map(key)).into_result().expect("deleted");
    assert!(deleted.into_iter().all(|(_, deleted)| deleted));
    assert_eq!(status(&client, &server.address()).failures, 0);
}

/// Asks for keys of all servers; those of the first fail in time, those of the others are there.
fn only_the_first_fails(client: &Client, first: &str, others: [&str; 2]) {
    let keys_of = |server| keys_on(client, server, "k").take(20).collect::<Vec<_>>();
    let lost = keys_of(first);
    let kept: Vec<_> = others.into_iter().flat_map(keys_of).collect();
    let patient = client.with_timeout(HANG).expect("a time");
    let stored = patient.set_many(kept.iter().map(|key| (key, key)), Ttl::NEVER);
    stored.into_result().expect("the other servers are well");
    let all: Vec<_> = lost.iter().chain(&kept).collect();
    let (found, took) = timed(|| client.get_many::<String, _>(all.clone()));
    assert!(took <= client.timeout() + *OVERSHOOT, "took {took:?}");
    for key in &kept {
        assert_eq!(found.get(key), Some(key), "{:?}", found.outcome(key));
    }
    for key in &lost {
        let error = found.outcome(key).expect("asked").as_ref().expect_err("its server is dead");
        assert_eq!(error.server(), Some(first), "{error}");
    }
    let (stored, took) = timed(|| client.set_many(all.iter().map(|key| (*key, *key)), Ttl::NEVER));
    assert!(took <= client.timeout() + *OVERSHOOT, "took {took:?}");
    assert_eq!(stored.failures().count(), lost.len());
    for server in others {
        assert_eq!(state(client, server), NodeState::Up);
        assert_eq!(status(client, server).failures, 0, "{server} did nothing wrong");
    }
}

fn without_failover(servers: [&str; 3]) -> Client {
    steady(servers)
        .failover(Failover::Off)
        .timeout(Duration::from_secs(2))
        .build()
        .expect("settings")
}

#[test]
fn a_silent_server_of_three_fails_only_its_own_keys() {
    let _quiet = quiet();
    let servers = [Memcached::start(), Memcached::start(), Memcached::start()];
    let [first, second, third] = servers.each_ref().map(Memcached::address);
    let client = without_failover([&first, &second, &third]);
    servers[0].pause();
    only_the_first_fails(&client, &first, [&second, &third]);
}

#[test]
fn a_swallowing_server_of_three_fails_only_its_own_keys() {
    let _quiet = quiet();
    let hole = blackhole();
    let servers = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let [second, third] = servers.each_ref().map(TestServer::address);
    let client = without_failover([&hole.address(), &second, &third]);
    only_the_first_fails(&client, &hole.address(), [&second, &third]);
}

#[test]
fn two_swallowing_servers_leave_time_for_the_others_also_with_failover() {
    let _quiet = quiet();
    let holes = [blackhole(), blackhole()];
    let servers = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let [third, fourth] = servers.each_ref().map(TestServer::address);
    let client = steady([holes[0].address(), holes[1].address(), third.clone(), fourth.clone()])
        .timeout(Duration::from_secs(3))
        .connect_timeout(Duration::from_millis(1500))
        .build()
        .expect("settings");
    let kept: Vec<_> =
        [&third, &fourth].iter().flat_map(|s| keys_on(&client, s, "k").take(10)).collect();
    let lost =
        holes.iter().flat_map(|h| keys_on(&client, &h.address(), "k").take(10).collect::<Vec<_>>());
    let all: Vec<_> = lost.chain(kept.iter().cloned()).collect();
    let (found, took) = timed(|| client.get_many::<String, _>(&all));
    assert!(took <= client.timeout() + *OVERSHOOT, "took {took:?}");
    for key in &kept {
        let outcome = found.outcome(key).expect("asked");
        assert!(matches!(outcome, Ok(None)), "{outcome:?}");
    }
    for server in [&third, &fourth] {
        assert_eq!(status(&client, server).failures, 0, "{server} did nothing wrong");
    }
}

#[test]
fn a_slow_server_delays_nobody_elses_requests() {
    let servers = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let [slow, quick] = servers.each_ref().map(TestServer::address);
    let client = steady([&*slow, &*quick]).build().expect("settings");
    let keys: Vec<_> =
        [&slow, &quick].iter().flat_map(|s| keys_on(&client, s, "k").take(5)).collect();
    servers[0].fault(Fault::Late(HANG), When::next(1).verb("get"));
    thread::scope(|scope| {
        let call = scope.spawn(|| client.get_many::<String, _>(&keys).into_result());
        for server in &servers {
            let asked =
                |e: &Event| matches!(e, Event::Command { line, .. } if line.starts_with("get "));
            assert!(server.wait_for(|events| events.iter().any(asked), HANG), "each is asked");
        }
        assert!(!call.is_finished(), "while the slow one has not answered");
        servers[0].clear_faults();
        assert_eq!(call.join().expect("no panic").expect("read").len(), 10);
    });
}

#[test]
fn a_value_that_cannot_be_read_or_stored_fails_only_its_own_key() {
    let server = TestServer::start().expect("a port");
    let client = steady(server.address()).max_value_bytes(10).build().expect("settings");
    server.put("text", "no number", 0);
    let values = [("n", "1"), ("long", "longer than ten bytes"), ("a key", "3"), ("m", "4")];
    let stored = client.set_many(values, Ttl::NEVER);
    let kind = |key| stored.outcome(key).expect("asked").as_ref().map_err(mcpool::Error::kind);
    assert_eq!(kind("n"), Ok(&()));
    assert_eq!(kind("long"), Err(ErrorKind::ValueTooLarge));
    assert_eq!(kind("a key"), Err(ErrorKind::InvalidKey));
    assert_eq!(kind("m"), Ok(&()));
    let found = client.get_many::<u32, _>(["n", "text", "a key", "m"]);
    assert_eq!((found.get("n"), found.get("m")), (Some(&1), Some(&4)));
    let kinds: Vec<_> = found.failures().map(|(key, e)| (*key, e.kind())).collect();
    assert_eq!(kinds, [("text", ErrorKind::Decode), ("a key", ErrorKind::InvalidKey)]);
}

#[test]
fn threads_with_calls_over_three_servers_of_one_connection_each_never_wait_in_a_circle() {
    let _busy = busy();
    let servers = [Memcached::start(), Memcached::start(), Memcached::start()];
    let client = Client::builder()
        .servers(servers.each_ref().map(Memcached::address))
        .max_connections(1)
        .timeout(HANG)
        .build()
        .expect("settings");
    let (results, took) = timed(|| {
        thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|thread| {
                    let client = &client;
                    scope.spawn(move || {
                        let mut keys: Vec<_> = (0..30).map(|i| format!("t{thread}k{i}")).collect();
                        for _ in 0..50 {
                            keys.rotate_left(7);
                            let entries = keys.iter().map(|key| (key, key));
                            client.set_many(entries, Ttl::NEVER).into_result()?;
                            let found = client.get_many::<String, _>(&keys).into_result()?;
                            assert!(found.iter().all(|(key, value)| value.as_ref() == Some(key)));
                            client.version().into_result()?;
                        }
                        Ok::<_, mcpool::Error>(())
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).collect::<Vec<_>>()
        })
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert!(took < HANG, "took {took:?}");
    for server in client.status().servers {
        assert_eq!((server.dials, server.failures), (1, 0), "{server:?}");
    }
}
