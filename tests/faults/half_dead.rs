//! Faults around servers that are dead and still accept connections, or swallow them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{BackOff, NodeState, Ttl};

use crate::support::blackhole::blackhole;
use crate::support::clients::{keys_on, passive, state};
use crate::support::over::Over;
use crate::support::script::{Peer, Script};
use crate::support::watch::until;

fn start() -> TestServer {
    TestServer::start().expect("a server")
}

/// What a server does that accepts a connection and closes it.
fn hangs_up() -> Fault {
    Fault::TurnAway(Vec::new())
}

fn connects(server: &TestServer) -> usize {
    server.events().iter().filter(|e| matches!(e, Event::Connected { .. })).count()
}

#[test]
fn f033_a_server_that_hangs_up_on_every_connection_is_given_up_as_one_that_refuses_them() {
    for many in [false, true] {
        let (live, dead) = (start(), start());
        dead.fault(hangs_up(), When::always());
        let client = passive([live.address(), dead.address()]).build().expect("a client");
        let address = dead.address();
        let keys: Vec<_> = keys_on(&client, &address, "key").take(1000).collect();
        let started = Instant::now();
        for keys in keys.chunks(2) {
            if many {
                let found = client.get_many::<String, _>(keys).into_result();
                assert!(found.expect("the live one says so").iter().all(|(_, v)| v.is_none()));
            } else {
                assert_eq!(client.get::<String>(&keys[0]).expect("the live one says so"), None);
            }
        }
        let connects = connects(&dead);
        // Four to find out, then one for each back-off of 160 ms at the shortest.
        let most = 4 + started.elapsed().as_millis() / 160;
        assert!(connects as u128 <= most, "{connects} connects, many: {many}");
        assert_eq!(state(&client, &address), NodeState::Down);
        dead.clear_faults();
        until("its return", || state(&client, &address) == NodeState::Up);
        client.set(&keys[0], "v", Ttl::NEVER).expect("stored");
        assert!(dead.item(&keys[0]).is_some(), "its key came home");
    }
}

#[test]
fn f056_a_server_that_hangs_up_on_a_crowd_is_not_stormed_and_neither_is_it_when_it_recovers() {
    let server = start();
    let client = passive(server.address()).max_connections(16).build().expect("a client");
    let address = server.address();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = Over(&over);
        for _ in 0..64 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let _ = client.get::<String>("k");
                    std::thread::yield_now();
                }
            });
        }
        until("load", || client.status().servers[0].exchanges > 500);
        server.fault(hangs_up(), When::always());
        server.close_connections();
        until("its death", || state(&client, &address) == NodeState::Down);
        let dials = || client.status().servers[0].dials;
        // Two connects may still be under way; the next three are probes.
        let enough = dials() + 2 + 3;
        let started = Instant::now();
        until("three probes", || dials() >= enough);
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(300), "three probes within {took:?}");
        server.clear_faults();
        server.clear_events();
        let served = client.status().servers[0].exchanges;
        until("load", || client.status().servers[0].exchanges > served + 500);
    });
    assert!(connects(&server) <= 17, "{} connects after the recovery", connects(&server));
}

#[test]
fn f050_connects_that_timed_out_do_not_outlast_the_black_hole() {
    let hole = blackhole();
    let addr = hole.addr();
    let client = passive(hole.address())
        .connect_timeout(Duration::from_millis(50))
        .back_off(BackOff::new(Duration::from_millis(50), Duration::from_millis(100)))
        .build()
        .expect("a client");
    until("its death", || {
        client.get::<String>("k").expect_err("nobody accepts");
        state(&client, &addr.to_string()) == NodeState::Down
    });
    let _server = Script::on(hole.open(), |peer: &mut Peer| {
        while let Some(line) = peer.line() {
            peer.send(if line == "get k" { "VALUE k 0 1\r\nv\r\nEND\r\n" } else { "END\r\n" });
        }
    });
    until("an answer", || matches!(client.get::<String>("k"), Ok(Some(v)) if v == "v"));
    assert_eq!(state(&client, &addr.to_string()), NodeState::Up);
}
