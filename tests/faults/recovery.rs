//! Faults around servers that are restarted, come back, or fail for a moment.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{BackOff, Client, ErrorKind, Failover, NodeState, Ttl};

use crate::support::clients::{keys_on, never, passive, state};
use crate::support::memcached::Memcached;
use crate::support::over::Over;
use crate::support::script::{Peer, Script};
use crate::support::watch::{SLACK, timed, until};

fn start() -> TestServer {
    TestServer::start().expect("a server")
}

#[test]
fn f036_a_restart_costs_no_failed_call_although_every_pooled_socket_is_stale() {
    let mut server = Memcached::start();
    let client = passive(server.address()).initial_connections(10).build().expect("a client");
    client.warm_up().into_result().expect("ten connections");
    until("ten connections", || client.status().servers[0].idle == 10);
    server.restart_on_same_port();
    for n in 0..20 {
        assert_eq!(client.get::<String>(format!("k{n}")).expect("read"), None);
    }
    for n in 0..20 {
        client.set(format!("k{n}"), "v", Ttl::NEVER).expect("stored");
    }
    assert!(client.status().servers[0].failures <= 1, "the others are dropped unasked");
}

#[test]
fn f042_a_server_that_comes_back_gets_its_keys_back_and_no_more_probes() {
    let (returning, live) = (start(), start());
    let client = passive([returning.address(), live.address()])
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let address = returning.address();
    let keys: Vec<_> = keys_on(&client, &address, "key").take(20).collect();
    returning.stop();
    until("its death", || {
        client.set(&keys[0], "v", Ttl::NEVER).is_ok() && state(&client, &address) == NodeState::Down
    });
    returning.restart().expect("the same port");
    until("its return", || state(&client, &address) == NodeState::Up);
    returning.clear_events();
    for key in &keys {
        client.set(key, "v", Ttl::NEVER).expect("stored");
        assert!(returning.item(key).is_some(), "{key} came home");
    }
    let probes = returning.commands().iter().filter(|c| c.starts_with("get")).count();
    assert_eq!(probes, 0);
}

#[test]
fn f044_a_stale_connection_says_nothing_against_a_restarted_server() {
    let mut restarted = Memcached::start();
    let other = Memcached::start();
    let client = passive([restarted.address(), other.address()]).build().expect("a client");
    let address = restarted.address();
    let keys: Vec<_> = keys_on(&client, &address, "key").take(5).collect();
    client.set(&keys[0], "v", Ttl::NEVER).expect("stored");
    restarted.restart_on_same_port();
    for key in &keys {
        client.set(key, "v", Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<String>(key).expect("read").as_deref(), Some("v"));
    }
    let status = client.status();
    assert_eq!(state(&client, &address), NodeState::Up);
    assert_eq!(status.servers.iter().map(|s| s.failovers).sum::<u64>(), 0, "no key moved");
}

#[test]
fn f045_a_connection_that_timed_out_is_never_used_again() {
    let mut server = Memcached::start();
    let client =
        passive(server.address()).max_connections(1).down_after(never()).build().expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    server.pause();
    let hasty = client.with_timeout(Duration::from_millis(400)).expect("a handle");
    for _ in 0..3 {
        assert!(hasty.get::<String>("k").expect_err("it is stopped").is_timeout());
    }
    assert_eq!(client.status().servers[0].connections, 0);
    server.restart_on_same_port();
    for _ in 0..5 {
        assert_eq!(client.get::<String>("k").expect("read"), None);
    }
}

#[test]
fn f049_a_reset_in_the_middle_of_a_large_value_is_an_error_at_once_and_the_next_store_works() {
    let server = start();
    let client = passive(server.address()).build().expect("a client");
    let value = vec![7_u8; 1 << 20];
    let resetting = Script::start(|peer: &mut Peer| {
        if peer.number <= 2 {
            // Read a little of the value; what is left unread makes the close a reset.
            peer.line();
            return;
        }
        while peer.line().is_some() {
            peer.take((1 << 20) + 2);
            peer.send("STORED\r\n");
        }
    });
    let broken = passive(resetting.address()).build().expect("a client");
    let (outcome, took) = timed(|| broken.set("k", &value[..1 << 20], Ttl::NEVER));
    assert_eq!(outcome.expect_err("two resets").kind(), ErrorKind::ConnectionLost);
    assert!(took < SLACK, "{took:?}");
    broken.set("k", &value, Ttl::NEVER).expect("stored");
    client.set("k", "v", Ttl::NEVER).expect("stored");
}

#[test]
fn f050_calls_work_again_within_a_back_off_of_the_servers_return() {
    let server = start();
    let client = passive(server.address())
        .back_off(BackOff::new(Duration::from_millis(50), Duration::from_millis(100)))
        .connect_timeout(Duration::from_millis(250))
        .timeout(Duration::from_millis(300))
        .build()
        .expect("a client");
    server.fault(Fault::Hang, When::always());
    until("its death", || {
        client.get::<String>("k").is_err() && state(&client, &server.address()) == NodeState::Down
    });
    server.clear_faults();
    let (_, took) = timed(|| until("an answer", || client.get::<String>("k").is_ok()));
    assert!(took < Duration::from_millis(100) + SLACK, "{took:?}");
}

#[test]
fn f052_a_server_killed_under_eight_threads_makes_errors_and_no_panic_and_each_round_recovers() {
    let mut server = Memcached::start();
    let client = passive(server.address())
        .back_off(BackOff::new(Duration::from_millis(10), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for t in 0..8 {
            let (client, over) = (&client, &over);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let key = format!("k{t}");
                    if client.set(&key, &key, Ttl::NEVER).is_ok() {
                        if let Ok(Some(value)) = client.get::<String>(&key) {
                            assert_eq!(value, key);
                        }
                    }
                }
            });
        }
        let _over = Over(&over);
        for _ in 0..20 {
            server.kill();
            server.restart_on_same_port();
            until("an answer", || client.get::<String>("k").is_ok());
        }
    });
}

#[test]
fn f053_f054_without_failover_no_key_ever_moves_and_no_old_value_comes_back() {
    let a = Memcached::start();
    let b = start();
    let client = passive([a.address(), b.address()])
        .failover(Failover::Off)
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let address = a.address();
    let key = keys_on(&client, &address, "key").next().expect("a key");
    client.set(&key, &1, Ttl::NEVER).expect("stored");
    a.pause();
    let hasty = client.with_timeout(Duration::from_millis(400)).expect("a handle");
    assert!(hasty.set(&key, &2, Ttl::NEVER).is_err(), "an error and not a store elsewhere");
    assert!(hasty.get::<u32>(&key).is_err());
    assert!(b.item(&key).is_none());
    a.resume();
    until("its return", || client.get::<u32>(&key).is_ok());
    assert!(b.item(&key).is_none());
}

#[test]
fn f053_with_failback_off_a_returned_server_shows_its_old_values_only_when_told_to() {
    let (a, b) = (start(), start());
    let client = passive([a.address(), b.address()])
        .failback(false)
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(50)))
        .build()
        .expect("a client");
    let address = a.address();
    let key = keys_on(&client, &address, "key").next().expect("a key");
    client.set(&key, &1, Ttl::NEVER).expect("stored on a");
    a.stop();
    until("its death", || {
        client.set(&key, &2, Ttl::NEVER).is_ok() && state(&client, &address) == NodeState::Out
    });
    a.listen().expect("the same port, with its memory");
    for _ in 0..20 {
        assert_eq!(client.get::<u32>(&key).expect("read"), Some(2), "the newer value stays");
    }
    // What the guide says: empty it, then let it back in.
    Client::new(address.clone())
        .expect("a client")
        .flush_all(Duration::ZERO)
        .into_result()
        .expect("emptied");
    assert!(client.restore(&address));
    assert_eq!(client.get::<u32>(&key).expect("read"), None);
}

#[test]
fn f056_after_a_restart_the_server_is_not_stormed() {
    let server = start();
    let client = passive(server.address()).max_connections(16).build().expect("a client");
    let connects =
        |events: &[Event]| events.iter().filter(|e| matches!(e, Event::Connected { .. })).count();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let _ = client.get::<String>("k");
                    std::thread::yield_now();
                }
            });
        }
        let _over = Over(&over);
        until("load", || client.status().servers[0].exchanges > 1000);
        server.stop();
        until("its death", || state(&client, &server.address()) == NodeState::Down);
        // Two connects may still be under way; the next three are probes.
        let enough = client.status().servers[0].failed_dials + 2 + 3;
        let (_, took) = timed(|| {
            until("three probes", || client.status().servers[0].failed_dials >= enough);
        });
        assert!(took >= Duration::from_millis(300), "three probes within {took:?} is no back-off");
        server.clear_events();
        server.restart().expect("the same port");
        let served = client.status().servers[0].exchanges;
        until("load", || client.status().servers[0].exchanges > served + 1000);
    });
    assert!(
        connects(&server.events()) <= 17,
        "{} connects after the return",
        connects(&server.events())
    );
}
