//! Servers that go down, stay out and come back: who is asked, who probes, and when.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ErrorKind, Failover, NodeState, Ttl};

use super::common::busy;
use crate::support::clients::{hasty, key_on, state, status, steady};
use crate::support::memcached::Memcached;
use crate::support::watch::until;

/// Two servers, the first of which is soon taken out, and a key of the first.
fn pair() -> ([TestServer; 2], Client, String) {
    let servers = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = hasty([servers[0].address(), servers[1].address()]).build().expect("settings");
    let key = key_on(&client, &servers[0].address(), "k");
    (servers, client, key)
}

#[test]
fn a_server_that_went_down_is_probed_and_used_again_without_any_call() {
    let ([first, second], client, key) = pair();
    client.set(&key, "first", Ttl::NEVER).expect("stored");
    first.stop();
    assert_eq!(client.get::<String>(&key).expect("the second says so"), None);
    client.set(&key, "second", Ttl::NEVER).expect("stored");
    until("it is down", || state(&client, &first.address()) == NodeState::Down);
    first.clear_events();
    first.listen().expect("the same port");
    until("it is up", || state(&client, &first.address()) == NodeState::Up);
    assert_eq!(first.commands().first().map(String::as_str), Some("get mcpool:alive"), "the probe");
    assert_eq!(client.get::<String>(&key).expect("read").as_deref(), Some("first"));
    assert_eq!(second.item(&key), Some((b"second".to_vec(), 0)), "what failover leaves behind");
}

#[test]
fn servers_that_hang_keep_no_other_from_being_probed() {
    // The kernel takes their connections, and nobody answers.
    let hung: Vec<_> = (0..8).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let names = hung.iter().map(|l| l.local_addr().expect("bound").to_string());
    let healthy = TestServer::start().expect("a port");
    let list: Vec<_> = names.clone().chain([healthy.address()]).collect();
    let client = hasty(list)
        .failover(Failover::Off)
        .connect_timeout(Duration::from_secs(10))
        .timeout(Duration::from_millis(300))
        .build()
        .expect("settings");
    let take_down = |name: &str| {
        let key = key_on(&client, name, "k");
        until("it is down", || {
            client.get::<String>(&key).expect_err("no answer");
            state(&client, name) == NodeState::Down
        });
    };
    names.for_each(|name| take_down(&name));
    healthy.stop();
    take_down(&healthy.address());
    let started = Instant::now();
    healthy.listen().expect("the same port");
    until("it is up", || state(&client, &healthy.address()) == NodeState::Up);
    assert!(started.elapsed() < Duration::from_secs(8), "before the first hung probe has ended");
}

#[test]
fn a_real_server_that_is_paused_and_resumed_is_left_and_used_again() {
    let (paused, other) = (Memcached::start(), TestServer::start().expect("a port"));
    let client = hasty([paused.address(), other.address()])
        .attempt_timeout(Duration::from_millis(300))
        .build()
        .expect("settings");
    let key = key_on(&client, &paused.address(), "k");
    client.set(&key, "v", Ttl::NEVER).expect("stored");
    paused.pause();
    assert_eq!(client.get::<String>(&key).expect("the other says so"), None);
    until("it is down", || state(&client, &paused.address()) == NodeState::Down);
    let turned_away = status(&client, &paused.address()).turned_away;
    client.get::<String>(&key).expect("the other says so");
    assert_eq!(status(&client, &paused.address()).turned_away, turned_away + 1);
    paused.resume();
    until("it is up", || state(&client, &paused.address()) == NodeState::Up);
    assert_eq!(client.get::<String>(&key).expect("read").as_deref(), Some("v"));
}

#[test]
fn without_failback_a_server_stays_out_until_it_is_restored() {
    let servers = [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let [first, second] = &servers;
    let client = hasty([first.address(), second.address()])
        .failback(false)
        .maintenance_interval(Duration::from_millis(5))
        .build()
        .expect("settings");
    let key = key_on(&client, &first.address(), "k");
    client.set(&key, "first", Ttl::NEVER).expect("stored");
    first.stop();
    client.get::<String>(&key).expect("the second says so");
    until("it is out", || state(&client, &first.address()) == NodeState::Out);
    first.clear_events();
    first.listen().expect("the same port");
    // Long enough for maintenance to have passed many times, and for every back-off to be over.
    let passed = Instant::now();
    while passed.elapsed() < Duration::from_millis(400) {
        assert_eq!(client.get::<String>(&key).expect("the second says so"), None);
        assert_eq!(state(&client, &first.address()), NodeState::Out);
    }
    assert_eq!(first.connections(), 0, "it is left alone");
    assert!(!client.restore("nobody"));
    assert!(client.restore(&first.address()));
    assert_eq!(client.get::<String>(&key).expect("read").as_deref(), Some("first"));
}

#[test]
fn a_lone_server_comes_back_whatever_the_settings_say() {
    let server = TestServer::start().expect("a port");
    let client = hasty(server.address()).failback(false).build().expect("settings");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    server.stop();
    client.get::<String>("k").expect_err("nobody is there");
    until("it is down", || state(&client, &server.address()) == NodeState::Down);
    server.listen().expect("the same port");
    until("it is up", || state(&client, &server.address()) == NodeState::Up);
    assert_eq!(client.get::<String>("k").expect("read").as_deref(), Some("v"));
}

#[test]
fn without_a_maintenance_thread_a_call_is_the_probe() {
    let server = TestServer::start().expect("a port");
    let client =
        hasty(server.address()).maintenance_interval(Duration::ZERO).build().expect("settings");
    server.stop();
    client.get::<String>("k").expect_err("nobody is there");
    assert_eq!(state(&client, &server.address()), NodeState::Down);
    server.listen().expect("the same port");
    server.clear_events();
    until("a call gets through", || client.set("k", "v", Ttl::NEVER).is_ok());
    assert_eq!(state(&client, &server.address()), NodeState::Up);
    assert_eq!(server.commands(), ["set k 0 0 1"], "the call itself, and only when it was due");
}

#[test]
fn a_server_that_turns_connections_away_counts_as_one_that_refuses() {
    let ([first, _second], client, key) = pair();
    first.fault(Fault::TurnAway("ERROR Too many open connections\r\n".into()), When::always());
    client.set(&key, "v", Ttl::NEVER).expect("stored elsewhere");
    until("it is down", || state(&client, &first.address()) == NodeState::Down);
    first.clear_faults();
    until("it is up", || state(&client, &first.address()) == NodeState::Up);
}

#[test]
fn a_server_that_is_slow_but_alive_is_not_taken_out() {
    // A server that gets no processor for 200 ms is silent.
    let _busy = busy();
    let server = TestServer::start().expect("a port");
    server.put("k", "x".repeat(4000), 0);
    let client =
        hasty(server.address()).timeout(Duration::from_millis(500)).build().expect("settings");
    // A few bytes at a time, all along, and more time than there is.
    server.fault(Fault::Dribble { bytes: 10, pause: Duration::from_millis(2) }, When::always());
    let error = client.get::<String>("k").expect_err("too slow");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    let failures = client.get_many::<String, _>(["k"]);
    assert_eq!(failures.failures().count(), 1, "too slow");
    assert_eq!(state(&client, &server.address()), NodeState::Up);
}

#[test]
fn outages_are_misses_where_that_is_asked_for_and_nothing_else_is() {
    let server = TestServer::start().expect("a port");
    server.stop();
    let client = steady(server.address()).errors_as_misses(true).build().expect("settings");
    assert_eq!(client.get::<String>("k").expect("a miss"), None);
    client.set("k", "v", Ttl::NEVER).expect("lost");
    assert!(!client.add("k", "v", Ttl::NEVER).expect("not stored"));
    assert!(!client.delete("k").expect("not there"));
    assert_eq!(client.incr("k", 1).expect("not there"), None);
    assert_eq!(client.get_many::<String, _>(["a", "b"]).into_result().expect("misses").len(), 2);
    assert_eq!(client.status().absorbed_errors, 7);
    let error = client.get::<String>("a key").expect_err("no outage");
    assert_eq!(error.kind(), ErrorKind::InvalidKey, "{error}");
}
