//! Faults of connection pools: leaks, starvation, growth, staleness, shutdown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{BackOff, Client, ClientBuilder, DownAfter, ErrorKind, NodeState, Phase, Ttl};

use crate::support::alone::{alone, descriptors, resident, threads};
use crate::support::memcached::Memcached;
use crate::support::script::{Peer, Script};

/// Longer than anything here takes; whoever waits that long hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client that opens nothing by itself and waits patiently.
fn settings(address: impl Into<String>) -> ClientBuilder {
    Client::builder().servers(address.into()).min_connections(0).timeout(Duration::from_secs(20))
}

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

/// A loopback port that refuses.
fn refusing() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

fn connected(events: &[Event]) -> usize {
    events.iter().filter(|e| matches!(e, Event::Connected { .. })).count()
}

fn closed(events: &[Event]) -> usize {
    events.iter().filter(|e| matches!(e, Event::Closed { .. })).count()
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
    let client = settings(server.address()).max_connections(2).build().expect("a client");
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
    settings(address)
        .maintenance_interval(Duration::ZERO)
        .down_after(DownAfter::new(1000, Duration::from_nanos(1)))
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
    let client = settings(server.address())
        .max_connections(4)
        .timeout(Duration::from_millis(50))
        .down_after(DownAfter::new(1000, Duration::from_secs(10)))
        .build()
        .expect("a client");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let error = client.get::<String>("k").expect_err("no reply");
                    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
                }
            });
        }
    });
    let all_closed =
        server.wait_for(|events| closed(events) == connected(events), Duration::from_secs(10));
    assert!(all_closed, "{} connections stay open", server.connections());
    assert_eq!(connected(&server.events()), 32, "no timed-out connection was used again");
    assert_eq!(client.status().servers[0].connections, 0);
}

#[test]
fn f018_a_connection_on_loan_when_its_pool_is_closed_is_closed_at_its_return() {
    let server = server();
    server.put("k", "v", 0);
    server.fault(Fault::Late(Duration::from_millis(300)), When::next(1).verb("get"));
    let client = settings(server.address()).build().expect("a client");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| client.get::<String>("k"));
        assert!(server.wait_for(|e| e.len() >= 2, PATIENCE), "the get arrives");
        client.close();
        let value = call.join().expect("no panic").expect("a call under way ends as it would have");
        assert_eq!(value.as_deref(), Some("v"));
    });
    assert!(server.wait_for(|events| closed(events) == 1, PATIENCE), "the connection stays open");
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
    let client = settings(server.address()).max_connections(1).build().expect("a client");
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
    let client = settings(server.address()).max_connections(1).build().expect("a client");
    assert_eq!(client.get::<String>("k").expect("asked again").as_deref(), Some("0123456789"));
}

#[test]
fn f020_waiting_for_the_pool_ends_with_the_callers_deadline_and_says_so() {
    let server = server();
    server.fault(Fault::Hang, When::always().verb("get"));
    let client = settings(server.address()).max_connections(1).build().expect("a client");
    assert_eq!(Client::new(server.address()).expect("a client").timeout(), Duration::from_secs(1));
    let (holder, waiter) = (
        client.with_timeout(Duration::from_millis(600)).expect("in range"),
        client.with_timeout(Duration::from_millis(100)).expect("in range"),
    );
    std::thread::scope(|scope| {
        let held = scope.spawn(|| holder.get::<String>("k"));
        let arrived = |e: &[Event]| e.iter().any(|e| matches!(e, Event::Command { .. }));
        assert!(server.wait_for(arrived, PATIENCE), "the get arrives");
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
        let error = held.join().expect("no panic").expect_err("no reply");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    });
}

#[test]
fn f022_one_thread_needs_no_more_than_the_minimum() {
    let server = server();
    let client = settings(server.address())
        .min_connections(1)
        .max_connections(10)
        .maintenance_interval(Duration::from_millis(5))
        .build()
        .expect("a client");
    for _ in 0..300 {
        client.get::<String>("k").expect("answered");
    }
    // The first call and the first top-up may both connect.
    let opened = connected(&server.events());
    assert!(opened <= 2, "{opened} connections for one thread");
}

/// Opens `n` connections at once: no reply comes before all have asked.
fn burst(server: &TestServer, client: &Client, n: usize) {
    server.fault(Fault::Late(Duration::from_millis(300)), When::next(n).verb("get"));
    std::thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| client.get::<String>("k").expect("answered"));
        }
    });
    // Those that came, and not those that are there: upkeep may have closed some already.
    let came = connected(&server.events());
    assert!(came > n / 2, "a burst of {n} opened {came}");
}

#[test]
fn f023_after_a_burst_the_pool_shrinks_to_its_minimum_and_stays_there() {
    let server = server();
    let client = settings(server.address())
        .min_connections(2)
        .max_connections(10)
        .max_idle(Duration::from_millis(200))
        .maintenance_interval(Duration::from_millis(20))
        .build()
        .expect("a client");
    burst(&server, &client, 10);
    let shrunk = |events: &[Event]| connected(events) - closed(events) == 2;
    assert!(server.wait_for(shrunk, PATIENCE), "still {} connections", server.connections());
    // Several idle limits and many passes later nothing has been opened or closed.
    server.clear_events();
    assert!(!server.wait_for(|events| !events.is_empty(), Duration::from_millis(600)));
    assert_eq!(server.connections(), 2);
}

#[test]
fn f024_the_connection_used_last_is_used_first_so_that_the_others_grow_idle() {
    let server = server();
    let client = settings(server.address())
        .min_connections(1)
        .max_connections(8)
        .max_idle(Duration::from_millis(300))
        .maintenance_interval(Duration::from_millis(20))
        .build()
        .expect("a client");
    burst(&server, &client, 8);
    let started = Instant::now();
    while client.status().servers[0].connections > 1 {
        client.get::<String>("k").expect("answered");
        assert!(started.elapsed() < PATIENCE, "{:?}", client.status());
    }
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
            let woken = changed.wait_timeout_while(asking, PATIENCE, |n| *n < 4);
            if woken.expect("no panic").1.timed_out() {
                return;
            }
            peer.send("END\r\n");
        }
    });
    let client = settings(server.address())
        .max_connections(4)
        // Never down: each call is to meet a reset of its own.
        .down_after(DownAfter::new(1000, Duration::from_nanos(1)))
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
    let client = settings(server.address())
        .initial_connections(8)
        .max_connections(8)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("a client");
    let warm = || {
        client.warm_up().into_result().expect("it connects");
        let dials = client.status().servers[0].dials;
        let all_came = |events: &[Event]| connected(events) as u64 == dials;
        assert!(server.wait_for(all_came, PATIENCE), "a connection never arrived");
    };
    let closed_all = || {
        server.close_connections();
        assert!(server.wait_for(|e| closed(e) == connected(e), PATIENCE));
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
    let client = settings(server.address()).alive_check(true).build().expect("a client");
    client.set("n", &1, Ttl::NEVER).expect("stored");
    let kicked = |started: Instant| {
        // A client of its own, whose fresh connection is not idle yet.
        let other = settings(server.address()).build().expect("a client");
        loop {
            let stats = other.stats().into_result().expect("an answer");
            if stats[0].1["idle_kicks"] != "0" {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "memcached never closed the idle connection");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    kicked(Instant::now());
    assert_eq!(client.incr("n", 1).expect("on a fresh connection"), Some(2));
}

#[test]
fn f028_all_handles_of_a_client_share_its_pool() {
    let server = server();
    let client = settings(server.address()).build().expect("a client");
    let mut handles: Vec<Client> = (0..100).map(|_| client.clone()).collect();
    handles.push(client.with_timeout(Duration::from_secs(5)).expect("in range"));
    handles.push(client.with_prefix("p:").expect("legal"));
    handles.push(client.with_codec(mcpool::Codec::Raw));
    for handle in &handles {
        assert_eq!(handle.get_raw("k").expect("answered"), None);
    }
    assert_eq!(connected(&server.events()), 1);
}

#[test]
fn f030_closing_under_load_ends_every_call_with_a_typed_error() {
    let server = server();
    let client = settings(server.address()).max_connections(4).build().expect("a client");
    let (before, after) = (Barrier::new(17), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let first = client.get::<String>("k");
                before.wait();
                first.expect("answered");
                // Until the close is seen, then some more.
                while after.load(Ordering::SeqCst) < 1000 {
                    match client.get::<String>("k") {
                        Ok(value) => assert_eq!(value, None),
                        Err(e) => {
                            assert_eq!(e.kind(), ErrorKind::Closed, "{e}");
                            after.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
        before.wait();
        client.close();
        client.close();
        let second = settings(server.address()).build().expect("a client");
        assert_eq!(second.get::<String>("k").expect("it has its own pool"), None);
    });
    assert!(server.wait_for(|e| closed(e) == connected(e), PATIENCE), "sockets stay open");
}

#[test]
fn f031_two_hundred_callers_of_one_connection_all_get_their_turn() {
    let server = server();
    server.put("k", "v", 0);
    server.fault(Fault::Late(Duration::from_millis(2)), When::always().verb("get"));
    let client = settings(server.address()).max_connections(1).build().expect("a client");
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| {
                assert_eq!(client.get::<String>("k").expect("its turn").as_deref(), Some("v"));
            });
        }
    });
    assert_eq!(connected(&server.events()), 1);
    assert_eq!(client.status().servers[0].exhausted, 0);
}

#[test]
fn f031_waiting_callers_are_served_in_the_order_they_came() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let (seen, opened) = (order.clone(), gate.clone());
    let server = Script::start(move |peer| {
        while let Some(line) = peer.line() {
            seen.lock().expect("no panic").push(line);
            let (open, changed) = &*opened;
            let shut = open.lock().expect("no panic");
            drop(changed.wait_timeout_while(shut, PATIENCE, |open| !*open).expect("no panic"));
            peer.send("END\r\n");
        }
    });
    let client = settings(server.address()).max_connections(1).build().expect("a client");
    std::thread::scope(|scope| {
        for n in 0..10 {
            let client = &client;
            scope.spawn(move || client.get::<String>(format!("k{n}")).expect("its turn"));
            // The next comes only once this one waits, or has the connection.
            let started = Instant::now();
            while client.status().servers[0].waiting < n
                || order.lock().expect("no panic").is_empty()
            {
                assert!(started.elapsed() < PATIENCE, "caller {n} never waited");
                std::thread::yield_now();
            }
        }
        *gate.0.lock().expect("no panic") = true;
        gate.1.notify_all();
    });
    let expected: Vec<String> = (0..10).map(|n| format!("get k{n}")).collect();
    assert_eq!(*order.lock().expect("no panic"), expected);
}

#[test]
fn f032_the_library_prints_nothing_and_its_threads_end_with_it() {
    let output = alone("pool::f032_the_library_prints_nothing_and_its_threads_end_with_it", || {
        let before = threads();
        let client = Client::builder()
            .servers([refusing(), refusing()])
            .maintenance_interval(Duration::from_millis(5))
            .back_off(BackOff::new(Duration::from_millis(5), Duration::from_millis(5)))
            .build()
            .expect("a client");
        for _ in 0..50 {
            client.get::<String>("k").expect_err("nobody is there");
        }
        assert!(threads() <= before + 2, "at most a worker and maintenance");
        drop(client);
        let started = Instant::now();
        while threads() > before {
            assert!(started.elapsed() < PATIENCE, "a thread outlives its client");
            std::thread::yield_now();
        }
    });
    if let Some(output) = output {
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    }
}
