//! Servers that are restarted: stale sockets cost nobody a read or a set, and the newcomer is not stormed.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{BackOff, Client, DownAfter, ErrorKind, NodeState, Ttl};

use super::common::{OVERSHOOT, busy};
use crate::support::blackhole::blackhole;
use crate::support::clients::{hasty, state, status, steady};
use crate::support::memcached::Memcached;
use crate::support::script::Script;
use crate::support::watch::until;

/// Opens connections by as many calls at once, and leaves them idle.
fn open(client: &Client, connections: u32) {
    let opened = client.warm_up().into_result().expect("the server is there").remove(0).1;
    until("all are open", || {
        client.status().servers[0].idle == usize::try_from(connections).expect("few")
    });
    assert!(opened <= usize::try_from(connections).expect("few"));
}

#[test]
fn after_a_restart_stale_sockets_cost_no_failed_read_or_set() {
    let mut server = Memcached::start();
    let client = steady(server.address()).min_connections(16).build().expect("settings");
    open(&client, 16);
    for round in 0..3 {
        server.restart_on_same_port();
        thread::scope(|scope| {
            for thread in 0..32 {
                let client = &client;
                scope.spawn(move || {
                    let key = format!("r{round}t{thread}");
                    client.set(&key, &thread, Ttl::NEVER).expect("stored");
                    assert_eq!(client.get(&key).expect("read"), Some(thread));
                    let many = client.get_many::<i32, _>([&key]).into_result().expect("read");
                    assert_eq!(many[0].1, Some(thread));
                });
            }
        });
    }
}

#[test]
fn one_call_finds_out_about_a_restart_and_the_others_sockets_are_not_tried() {
    let server = TestServer::start().expect("a port");
    let client = steady(server.address()).min_connections(8).build().expect("settings");
    open(&client, 8);
    server.restart().expect("the same port");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    for _ in 0..8 {
        // These could not be repeated.
        client.append("k", "v").expect("on a fresh connection");
    }
    let status = status(&client, &server.address());
    assert_eq!((status.retries, status.failures), (1, 1), "{status:?}");
}

#[test]
fn a_crowd_makes_no_more_than_the_allowed_number_of_connections_after_a_restart() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = steady(&*address).max_connections(4).min_connections(4).build().expect("settings");
    open(&client, 4);
    server.restart().expect("the same port");
    thread::scope(|scope| {
        for thread in 0..32 {
            let client = &client;
            scope.spawn(move || {
                client.set(format!("t{thread}"), &thread, Ttl::NEVER).expect("stored");
            });
        }
    });
    assert!(server.connections() <= 4, "{}", server.connections());
    // Four before the restart, and four after; each of the old ones may have been met by one caller.
    assert!(status(&client, &address).dials <= 8, "{:?}", status(&client, &address));
}

/// The local ends of connects to this port that are under way, as the kernel tells.
#[cfg(target_os = "linux")]
fn connecting(port: u16) -> BTreeSet<String> {
    const SYN_SENT: &str = "02";
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    let remote = format!(":{port:04X}");
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    let under_way = rows.filter(|row| row[2].ends_with(&remote) && row[3] == SYN_SENT);
    under_way.map(|row| row[1].to_owned()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn thirty_two_threads_make_no_more_than_two_connects_at_once() {
    let hole = blackhole();
    let settings = steady(hole.address())
        .timeout(Duration::from_secs(3))
        .connect_timeout(Duration::from_millis(600));
    let client = settings.build().expect("settings");
    thread::scope(|scope| {
        let threads: Vec<_> = (0..32).map(|_| scope.spawn(|| client.get::<String>("k"))).collect();
        let (mut most, mut before) = (0, BTreeSet::new());
        while threads.iter().any(|thread| !thread.is_finished()) {
            // The table is no snapshot: one that ended and one that began while it was read may both be in it. Those
            // that are in two tables were there together in between.
            let now = connecting(hole.addr().port());
            most = most.max(now.intersection(&before).count());
            before = now;
            thread::yield_now();
        }
        assert!((1..=2).contains(&most), "{most} at once");
        for thread in threads {
            let error = thread.join().expect("no panic").expect_err("nobody accepts");
            assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
        }
    });
}

#[test]
fn a_server_that_returns_is_used_within_the_back_off() {
    let _busy = busy();
    let mut server = Memcached::start();
    let back_off = BackOff::new(Duration::from_millis(100), Duration::from_millis(400));
    let client = Client::builder()
        .servers(server.address())
        .down_after(DownAfter::new(1, Duration::from_secs(10)))
        .back_off(back_off)
        .build()
        .expect("settings");
    server.kill();
    client.get::<String>("k").expect_err("nobody is there");
    until("it is down", || state(&client, &server.address()) == NodeState::Down);
    server.restart_on_same_port();
    let back = Instant::now();
    until("it is up", || state(&client, &server.address()) == NodeState::Up);
    let took = back.elapsed();
    assert!(took < back_off.max() + *OVERSHOOT, "took {took:?}");
    client.set("k", "v", Ttl::NEVER).expect("stored");
}

#[test]
fn a_call_that_began_before_its_server_came_back_does_not_take_it_out_again() {
    // The first two connections are never answered.
    let server = Script::start(|peer| {
        while peer.line().is_some() {
            if peer.number > 2 {
                peer.send("END\r\n");
            }
        }
    });
    let address = server.address();
    let client = hasty(address.as_str()).min_connections(0).share(false).build().expect("settings");
    let old = client.with_timeout(Duration::from_millis(1500)).expect("a handle");
    let new = client.with_timeout(Duration::from_millis(500)).expect("a handle");
    thread::scope(|scope| {
        let old = scope.spawn(|| old.get::<String>("k").expect_err("unanswered").kind());
        until("the first call is under way", || status(&client, &address).dials == 1);
        assert_eq!(new.get::<String>("k").expect_err("unanswered").kind(), ErrorKind::Timeout);
        until("the server answers the probe", || state(&client, &address) == NodeState::Up);
        assert_eq!(old.join().expect("no panic"), ErrorKind::Timeout);
    });
    assert_eq!(state(&client, &address), NodeState::Up);
    client.get::<String>("k").expect("answered");
}
