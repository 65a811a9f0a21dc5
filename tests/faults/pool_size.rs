//! Faults of a pool's size and life: growth, shrinking, turns of waiting callers, the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{BackOff, Client, ErrorKind};

use crate::support::alone::{alone, threads};
use crate::support::clients::passive;
use crate::support::events::{asked, closed, connected};
use crate::support::ports::refusing;
use crate::support::script::Script;
use crate::support::watch::{HANG, until};

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

#[test]
fn f018_a_connection_on_loan_when_its_pool_is_closed_is_closed_at_its_return() {
    let server = server();
    server.put("k", "v", 0);
    server.fault(Fault::Late(HANG), When::next(1).verb("get"));
    let client = passive(server.address()).build().expect("a client");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| client.get::<String>("k"));
        assert!(server.wait_for(|events| asked(events, "get") == 1, HANG), "the get arrives");
        client.close();
        server.clear_faults();
        let value = call.join().expect("no panic").expect("a call under way ends as it would have");
        assert_eq!(value.as_deref(), Some("v"));
    });
    assert!(server.wait_for(|events| closed(events) == 1, HANG), "the connection stays open");
}

#[test]
fn f022_one_thread_needs_no_more_than_the_minimum() {
    let server = server();
    let client = passive(server.address())
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

/// Opens `n` connections at once, for callers that do not share: no reply comes before all have asked.
fn burst(server: &TestServer, client: &Client, n: usize) {
    server.fault(Fault::Late(HANG), When::next(n).verb("get"));
    std::thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| client.get::<String>("k").expect("answered"));
        }
        assert!(server.wait_for(|events| asked(events, "get") == n, HANG), "not all asked");
        server.clear_faults();
    });
}

#[test]
fn f023_after_a_burst_the_pool_shrinks_to_its_minimum_and_stays_there() {
    let server = server();
    let client = passive(server.address())
        .share(false)
        .min_connections(2)
        .max_connections(10)
        .max_idle(Duration::from_millis(200))
        .maintenance_interval(Duration::from_millis(20))
        .build()
        .expect("a client");
    burst(&server, &client, 10);
    until("it shrinks", || client.status().servers[0].connections == 2);
    let settled = |events: &[Event]| {
        let dials = usize::try_from(client.status().servers[0].dials).expect("few");
        connected(events) == dials && closed(events) == dials - 2
    };
    assert!(server.wait_for(settled, HANG), "still {} connections", server.connections());
    // Several idle limits and many passes later nothing has been opened or closed.
    server.clear_events();
    assert!(!server.wait_for(|events| !events.is_empty(), Duration::from_millis(600)));
    assert_eq!(server.connections(), 2);
}

#[test]
fn f024_the_connection_used_last_is_used_first_so_that_the_others_grow_idle() {
    let server = server();
    let client = passive(server.address())
        .share(false)
        .min_connections(1)
        .max_connections(8)
        .max_idle(Duration::from_millis(300))
        .maintenance_interval(Duration::from_millis(20))
        .build()
        .expect("a client");
    burst(&server, &client, 8);
    until("the others are closed", || {
        client.get::<String>("k").expect("answered");
        client.status().servers[0].connections == 1
    });
}

#[test]
fn f028_all_handles_of_a_client_share_its_pool() {
    let server = server();
    let client = passive(server.address()).build().expect("a client");
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
    let client = passive(server.address()).max_connections(4).build().expect("a client");
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
        let second = passive(server.address()).build().expect("a client");
        assert_eq!(second.get::<String>("k").expect("it has its own pool"), None);
    });
    assert!(server.wait_for(|e| closed(e) == connected(e), HANG), "sockets stay open");
}

#[test]
fn f031_two_hundred_callers_of_one_connection_all_get_their_turn() {
    let server = server();
    server.put("k", "v", 0);
    server.fault(Fault::Late(Duration::from_millis(2)), When::always().verb("get"));
    let client = passive(server.address()).max_connections(1).build().expect("a client");
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
            drop(changed.wait_timeout_while(shut, HANG, |open| !*open).expect("no panic"));
            peer.send("END\r\n");
        }
    });
    let client = passive(server.address()).max_connections(1).build().expect("a client");
    std::thread::scope(|scope| {
        for n in 0..10 {
            let client = &client;
            scope.spawn(move || client.get::<String>(format!("k{n}")).expect("its turn"));
            // The next comes only once this one waits, or has the connection.
            until("the caller waits", || {
                client.status().servers[0].waiting == n
                    && !order.lock().expect("no panic").is_empty()
            });
        }
        *gate.0.lock().expect("no panic") = true;
        gate.1.notify_all();
    });
    // Some may have been asked for together.
    let lines = order.lock().expect("no panic").join(" ");
    let keys: Vec<&str> = lines.split(' ').filter(|word| *word != "get").collect();
    let expected: Vec<String> = (0..10).map(|n| format!("k{n}")).collect();
    assert_eq!(keys, expected);
}

#[test]
fn f032_the_library_prints_nothing_and_its_threads_end_with_it() {
    let output =
        alone("pool_size::f032_the_library_prints_nothing_and_its_threads_end_with_it", || {
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
            // The trial of whether a thread can be had may not have ended yet.
            until("a worker and maintenance are left", || threads() <= before + 2);
            drop(client);
            until("its threads end with it", || threads() <= before);
        });
    if let Some(output) = output {
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    }
}
