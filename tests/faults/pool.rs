//! Faults of connection pools: leaks, lost permits, stale and broken connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{Client, ErrorKind, NodeState, Phase, Ttl};

use crate::support::alone::{alone, descriptors, resident};
use crate::support::clients::{never, passive};
use crate::support::events::{asked, closed, connected};
use crate::support::memcached::Memcached;
use crate::support::ports::refusing;
use crate::support::script::{Peer, Script};
use crate::support::watch::{HANG, until};

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

/// Answers each `get k` with `value` until the client closes.
fn serve(peer: &mut Peer, value: &str) {
    while peer.line().is_some() {
        peer.send(format!("VALUE k 0 {}\r\n{value}\r\nEND\r\n", value.len()));
    }
}

#[test]
fn f014_fifty_threads_never_open_more_sockets_than_the_limit() {
    let server = Memcached::start();
    let client = passive(server.address()).max_connections(2).build().expect("a client");
    let before = total_connections(&client);
    std::thread::scope(|scope| {
        for t in 0..50 {
            let client = &client;
            scope.spawn(move || {
                for n in 0..40 {
                    let key = format!("k{t}:{n}");
                    client.set(&key, &key, Ttl::NEVER).expect("stored");
                    assert_eq!(client.get::<String>(&key).expect("read"), Some(key));
                }
            });
        }
    });
    // The first connection was there before. The server counts every one that ever came, and the one by which
    // it was found ready perhaps only now.
    assert!(total_connections(&client) - before <= 2, "more than 2 sockets were opened");
    assert!(client.status().servers[0].dials <= 2);
    let pool = &client.status().servers[0];
    assert_eq!((pool.connections <= 2, pool.waiting), (true, 0), "{pool:?}");
    assert_eq!(pool.idle, pool.connections, "a connection did not come back: {pool:?}");
}

fn total_connections(client: &Client) -> u64 {
    let stats = client.stats().into_result().expect("an answer");
    stats[0].1["total_connections"].parse().expect("a number")
}

#[test]
fn f015_failed_connects_leak_no_descriptor() {
    alone("pool::f015_failed_connects_leak_no_descriptor", || {
        let closing = Script::start(drop_it);
        for address in [refusing(), closing.address()] {
            let client = always_dialling(&address);
            client.get::<String>("k").expect_err("nobody answers");
            let before = descriptors();
            for _ in 0..1000 {
                client.get::<String>("k").expect_err("nobody answers");
                client.set("k", "v", Ttl::NEVER).expect_err("nobody answers");
            }
            // The scripted server's own end of the last connections may still be open.
            let after = descriptors();
            assert!(after <= before + 8, "{address}: {before} descriptors, then {after}");
        }
    });
}

/// Closes at once.
fn drop_it(_: &mut Peer) {}

/// A client that connects in every call, however often that failed.
fn always_dialling(address: &str) -> Client {
    passive(address)
        .maintenance_interval(Duration::ZERO)
        .down_after(never())
        .build()
        .expect("a client")
}

#[test]
fn f016_calls_to_a_dead_server_leave_no_memory_behind() {
    alone("pool::f016_calls_to_a_dead_server_leave_no_memory_behind", || {
        let client = always_dialling(&refusing());
        let calls = |n: usize| {
            for _ in 0..n {
                client.get::<String>("k").expect_err("nobody is there");
            }
            resident()
        };
        let (warm, after) = (calls(2_000), calls(20_000));
        // A leak of 100 bytes a call would be twice that.
        let grown = after.saturating_sub(warm);
        assert!(grown < 1 << 20, "{grown} bytes more after 20000 failed calls");
        assert!(client.status().servers[0].failed_dials >= 22_000, "each call connected");
    });
}

#[test]
fn f017_a_connection_whose_reply_never_came_is_closed() {
    let server = server();
    server.fault(Fault::Hang, When::always().verb("get"));
    let client = passive(server.address())
        .max_connections(4)
        .timeout(Duration::from_millis(300))
        .down_after(never())
        .build()
        .expect("a client");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..4 {
                    // Where time runs out before a connection is there, nothing is sent.
                    let error = client.get::<String>("k").expect_err("no reply");
                    assert!(error.may_retry(), "{error}");
                }
            });
        }
    });
    let all_closed =
        server.wait_for(|events| closed(events) == connected(events), Duration::from_secs(10));
    assert!(all_closed, "{} connections stay open", server.connections());
    let events = server.events();
    assert!(asked(&events, "get") >= 4, "hardly anything was asked");
    assert!(asked(&events, "get") <= connected(&events), "a timed-out connection was used again");
    assert_eq!(client.status().servers[0].connections, 0);
}

#[test]
fn f019_a_connection_that_failed_in_mid_reply_is_never_used_again() {
    let server = Script::start(|peer| match peer.number {
        // The first two replies are cut: a get is tried twice.
        1 | 2 => {
            peer.line();
            peer.send("VALUE k 0 10\r\nabc");
        }
        _ => serve(peer, "0123456789"),
    });
    let client = passive(server.address()).max_connections(1).build().expect("a client");
    let error = client.get::<String>("k").expect_err("half a value is none");
    assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
    assert_eq!(client.get::<String>("k").expect("a new connection").as_deref(), Some("0123456789"));
    assert_eq!(server.accepted(), 3);
}

#[test]
fn f019_a_read_cut_once_is_answered_from_a_fresh_connection() {
    let server = Script::start(|peer| match peer.number {
        1 => {
            peer.line();
            peer.send("VALUE k 0 10\r\nabc");
        }
        _ => serve(peer, "0123456789"),
    });
    let client = passive(server.address()).max_connections(1).build().expect("a client");
    assert_eq!(client.get::<String>("k").expect("asked again").as_deref(), Some("0123456789"));
}

#[test]
fn f020_waiting_for_the_pool_ends_with_the_callers_deadline_and_says_so() {
    let server = server();
    server.fault(Fault::Late(HANG), When::always().verb("get"));
    let client = passive(server.address()).max_connections(1).build().expect("a client");
    assert_eq!(Client::new(server.address()).expect("a client").timeout(), Duration::from_secs(1));
    let waiter = client.with_timeout(Duration::from_millis(100)).expect("in range");
    std::thread::scope(|scope| {
        let held = scope.spawn(|| client.get::<String>("k"));
        assert!(server.wait_for(|events| asked(events, "get") == 1, HANG), "the get arrives");
        let started = Instant::now();
        let error = waiter.get::<String>("k").expect_err("the only connection is in use");
        assert!(
            started.elapsed() >= Duration::from_millis(100),
            "it waited {:?}",
            started.elapsed()
        );
        assert_eq!(error.kind(), ErrorKind::PoolExhausted, "{error}");
        assert_eq!(error.phase(), Some(Phase::Wait));
        assert!(error.to_string().contains("max_connections"), "{error}");
        // Nobody is marked down for it.
        assert_eq!(client.status().servers[0].state, NodeState::Up);
        server.clear_faults();
        assert_eq!(held.join().expect("no panic").expect("only late"), None);
    });
}

#[test]
fn f025_a_thousand_resets_cost_no_permit() {
    const RESETS: usize = 1000;
    let resets = AtomicUsize::new(0);
    let asking = (Mutex::new(0), Condvar::new());
    let server = Script::start(move |peer| {
        if resets.fetch_add(1, Ordering::SeqCst) < RESETS {
            // Closing with the request unread resets the connection.
            return;
        }
        while peer.line().is_some() {
            let (count, changed) = &asking;
            let mut asking = count.lock().expect("no panic");
            *asking += 1;
            changed.notify_all();
            let woken = changed.wait_timeout_while(asking, HANG, |n| *n < 4);
            if woken.expect("no panic").1.timed_out() {
                return;
            }
            peer.send("END\r\n");
        }
    });
    let client = passive(server.address())
        .max_connections(4)
        // Each request on a connection of its own.
        .share(false)
        // Never down: each call is to meet a reset of its own.
        .down_after(never())
        .build()
        .expect("a client");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while server.accepted() < RESETS - 16 {
                    client.get::<String>("k").expect_err("reset");
                }
            });
        }
    });
    while server.accepted() < RESETS {
        client.get::<String>("k").expect_err("reset");
    }
    // No reply comes before four requests are there at once: with a permit lost these time out.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(client.get::<String>("k").expect("answered"), None));
        }
    });
    assert!(server.peak() <= 4, "{} connections at once", server.peak());
}

#[test]
fn f026_calls_after_the_server_closed_every_idle_connection_succeed() {
    let server = server();
    server.put("k", "v", 0);
    let client = passive(server.address())
        .initial_connections(8)
        .max_connections(8)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("a client");
    let warm = || {
        client.warm_up().into_result().expect("it connects");
        let dials = client.status().servers[0].dials;
        let all_came = |events: &[Event]| connected(events) as u64 == dials;
        assert!(server.wait_for(all_came, HANG), "a connection never arrived");
    };
    let closed_all = || {
        server.close_connections();
        assert!(server.wait_for(|e| closed(e) == connected(e), HANG));
    };
    warm();
    closed_all();
    // Met at once: what can be repeated is.
    assert_eq!(client.get::<String>("k").expect("asked again").as_deref(), Some("v"));
    client.set("k", "w", Ttl::NEVER).expect("stored");
    warm();
    closed_all();
    client.set("n", &1, Ttl::NEVER).expect("asked again");
    warm();
    closed_all();
    // Met after a second of quiet: looked at before use, so that even a counter can be sent.
    std::thread::sleep(Duration::from_millis(1050));
    assert_eq!(client.incr("n", 1).expect("on a fresh connection"), Some(2));
    assert_eq!(client.status().servers[0].state, NodeState::Up);
}

#[test]
fn f026_a_memcached_that_closes_idle_connections_is_no_dead_one() {
    let server = Memcached::start_with(&["-o", "idle_timeout=1"]);
    let client = passive(server.address()).alive_check(true).build().expect("a client");
    client.set("n", &1, Ttl::NEVER).expect("stored");
    // A client of its own, whose fresh connection is not idle yet.
    let other = passive(server.address()).build().expect("a client");
    until("memcached closes the idle connection", || {
        other.stats().into_result().expect("an answer")[0].1["idle_kicks"] != "0"
    });
    assert_eq!(client.incr("n", 1).expect("on a fresh connection"), Some(2));
}
