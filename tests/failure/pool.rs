//! Many callers, few connections: a hard cap, first come first served, and no slot ever lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use mcpool::testing::{Dice, Fault, TestServer, When};
use mcpool::{Client, ErrorKind, NodeState, Ttl};
use serde::{Serialize, Serializer};

use super::common::busy;
use crate::support::clients::{key_on, keys_on, state, status, steady};
use crate::support::memcached::Memcached;
use crate::support::watch::{HANG, timed, until};

/// A value that says which key it belongs to.
fn value(key: &str, n: u64) -> String {
    format!("{key} {n} {}", "x".repeat(usize::try_from(n % 50).expect("small")))
}

fn check(key: &str, value: Option<&String>) {
    if let Some(value) = value {
        let mut words = value.splitn(3, ' ');
        assert_eq!(words.next(), Some(key), "the value of another key");
        let n: u64 = words.next().and_then(|n| n.parse().ok()).expect("a number");
        assert_eq!(*value, self::value(key, n), "the value is torn");
    }
}

#[test]
fn sixty_four_threads_share_eight_connections_without_an_error_or_a_wrong_value() {
    const THREADS: u64 = 64;
    const CALLS: u64 = 10_000;
    let _busy = busy();
    let server = Memcached::start();
    let client = Client::builder()
        .servers(server.address())
        .max_connections(8)
        .timeout(HANG)
        .build()
        .expect("settings");
    client.set_counter("counter", 0, Ttl::NEVER).expect("stored");
    let increments = AtomicU64::new(0);
    let work = |thread: u64| {
        let mut dice = Dice::new(thread);
        for n in 0..CALLS {
            let key = format!("k{}", dice.below(100));
            match dice.below(10) {
                0..4 => check(&key, client.get(&key).expect("read").as_ref()),
                4..6 => client.set(&key, &value(&key, n), Ttl::NEVER).expect("stored"),
                6 => drop(client.delete(&key).expect("deleted or not")),
                7 => {
                    client.incr("counter", 1).expect("counted").expect("there");
                    increments.fetch_add(1, Ordering::Relaxed);
                }
                8 => {
                    let keys: Vec<_> = (0..5).map(|_| format!("k{}", dice.below(100))).collect();
                    let found = client.get_many::<String, _>(keys).into_result().expect("read");
                    found.iter().for_each(|(key, value)| check(key, value.as_ref()));
                }
                _ => {
                    if let Some(item) = client.gets::<String>(&key).expect("read") {
                        check(&key, Some(&item.value));
                        let new = value(&key, n);
                        _ = client.cas(&key, &new, Ttl::NEVER, &item.cas).expect("decided");
                    }
                }
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || work(thread));
        }
    });
    let counted = client.counter("counter").expect("read").expect("there");
    assert_eq!(counted, increments.load(Ordering::Relaxed));
    let status = status(&client, &server.address());
    assert!(status.dials <= 8 && status.connections <= 8, "{status:?}");
    let stats = client.stats().into_result().expect("stats").remove(0).1;
    // The server's own view: the start of the test connected once, this client 8 times at most.
    let total: u64 = stats["total_connections"].parse().expect("a number");
    assert!(total <= 8 + 3, "{total} connections were made");
}

/// Starts calls one by one, each once the one before it is in the queue.
fn queue_up<'s, T: Send + 's>(
    scope: &'s thread::Scope<'s, '_>,
    client: &'s Client,
    server: &'s str,
    calls: usize,
    call: impl Fn(usize) -> T + Copy + Send + 's,
) -> Vec<thread::ScopedJoinHandle<'s, T>> {
    let start = |i| {
        let thread = scope.spawn(move || call(i));
        until("the call waits", || status(client, server).waiting == i + 1);
        thread
    };
    (0..calls).map(start).collect()
}

#[test]
fn who_comes_first_is_served_first() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = steady(&*address).max_connections(1).build().expect("settings");
    client.get::<String>("warm").expect("read");
    server.clear_events();
    server.fault(Fault::Late(HANG), When::next(1));
    thread::scope(|scope| {
        scope.spawn(|| client.get::<String>("holder").expect("read"));
        until("the connection is in use", || status(&client, &address).idle == 0);
        queue_up(scope, &client, &address, 8, |i| {
            client.get::<String>(format!("w{i}")).expect("read");
        });
        server.clear_faults();
    });
    // Some may have been asked for together.
    let lines = server.commands().join(" ");
    let keys: Vec<_> = lines.split(' ').filter(|word| *word != "get").collect();
    assert_eq!(keys, ["holder", "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"]);
}

#[test]
fn a_waiter_goes_on_when_the_connection_it_waits_for_dies() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = steady(&*address).max_connections(1).build().expect("settings");
    server.fault(Fault::Hang, When::next(1));
    let ((), took) = timed(|| {
        thread::scope(|scope| {
            let holder = scope.spawn(|| client.incr("n", 1));
            assert!(server.wait_for(|e| e.len() >= 2, HANG), "the holder's request came");
            let waiters = queue_up(scope, &client, &address, 2, |_| client.get::<String>("k"));
            server.close_connections();
            holder.join().expect("no panic").expect_err("its connection died");
            for waiter in waiters {
                assert_eq!(waiter.join().expect("no panic").expect("read"), None);
            }
        });
    });
    assert!(took < HANG / 2, "took {took:?}");
}

#[test]
fn exhaustion_is_its_own_error_that_marks_nobody_down_and_moves_no_key() {
    let [server, other] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let address = server.address();
    let client = Client::builder()
        .servers([server.address(), other.address()])
        .max_connections(1)
        .timeout(HANG)
        .attempt_timeout(HANG)
        .build()
        .expect("settings");
    let key = key_on(&client, &address, "k");
    server.fault(Fault::Late(HANG), When::next(1));
    let hasty = client.with_timeout(Duration::from_millis(60)).expect("a time");
    thread::scope(|scope| {
        let holder = scope.spawn(|| client.get::<String>(&key));
        until("the connection is in use", || {
            status(&client, &address).idle == 0 && server.connections() == 1
        });
        for _ in 0..5 {
            let error = hasty.get::<String>(&key).expect_err("no connection is free");
            assert_eq!(error.kind(), ErrorKind::PoolExhausted, "{error}");
            assert_eq!(error.server(), Some(&*address), "{error}");
            assert!(error.is_timeout() && !error.may_have_been_applied());
            let error =
                hasty.get_many::<String, _>([&key]).into_result().expect_err("none is free");
            assert_eq!(error.kind(), ErrorKind::PoolExhausted, "{error}");
        }
        server.clear_faults();
        holder.join().expect("no panic").expect("only late");
    });
    assert_eq!(state(&client, &address), NodeState::Up);
    assert!(!other.commands().iter().any(|line| line.starts_with("get")), "a key moved");
    assert_eq!(status(&client, &address).exhausted, 10);
}

#[test]
fn a_call_that_may_go_elsewhere_still_waits_for_a_connection_until_its_deadline() {
    let [server, other] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = Client::builder()
        .servers([server.address(), other.address()])
        .max_connections(1)
        .timeout(HANG)
        .attempt_timeout(Duration::from_secs(1))
        .build()
        .expect("settings");
    let keys: Vec<_> = keys_on(&client, &server.address(), "k").take(2).collect();
    // More than one attempt may take. The holder itself is no call that goes elsewhere.
    server.fault(Fault::Late(Duration::from_millis(1500)), When::next(1));
    thread::scope(|scope| {
        scope.spawn(|| client.append(&keys[0], "v").expect("only late"));
        until("the holder's request came", || {
            server.commands().iter().any(|line| line.starts_with("append"))
        });
        assert_eq!(client.get::<String>(&keys[1]).expect("the wait was worth it"), None);
    });
    assert!(!other.commands().iter().any(|line| line.starts_with("get")), "a key moved");
}

#[test]
fn time_spent_waiting_for_the_pool_is_not_held_against_the_server() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = Client::builder()
        .servers(&*address)
        .max_connections(1)
        .share(false)
        .timeout(Duration::from_millis(600))
        .build()
        .expect("settings");
    // The server needs 210 ms for each reply: the third caller has its turn after 420, and too little time.
    server.fault(Fault::Late(Duration::from_millis(210)), When::always());
    for _ in 0..3 {
        thread::scope(|scope| {
            for i in 0..3 {
                let client = &client;
                scope.spawn(move || client.get::<String>(format!("k{i}")));
            }
        });
        let state = state(&client, &address);
        assert_eq!(state, NodeState::Up, "a server that answers every time");
    }
}

/// A value that panics while it is encoded.
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a bug in the program")
    }
}

#[test]
fn no_slot_is_ever_lost_to_an_error_a_time_out_or_a_panic() {
    let server = TestServer::start().expect("a port");
    let address = server.address();
    let client = steady(&*address)
        .max_connections(1)
        .observer(|error| assert_ne!(error.key(), Some(&b"panic"[..]), "a bug in the program"))
        .build()
        .expect("settings");
    let hurried = client.with_timeout(Duration::from_millis(5)).expect("a time");
    for round in 0..100 {
        let fault = |fault| server.fault(fault, When::next(1));
        match round % 8 {
            0 => drop(catch_unwind(AssertUnwindSafe(|| client.set("k", &Bomb, Ttl::NEVER)))),
            1 => {
                fault(Fault::Reply("SERVER_ERROR no\r\n".into()));
                let panicked = catch_unwind(AssertUnwindSafe(|| client.get_raw("panic")));
                panicked.expect_err("the observer panics");
            }
            2 => {
                fault(Fault::Hang);
                hurried.incr("k", 1).expect_err("nobody answers");
            }
            3 => {
                fault(Fault::CloseAfter(1));
                client.incr("k", 1).expect_err("the connection ends");
            }
            4 => {
                fault(Fault::Reply("nonsense\r\n".into()));
                client.incr("k", 1).expect_err("nobody understands that");
            }
            5 => {
                fault(Fault::TurnAway("ERROR Too many open connections\r\n".into()));
                server.close_connections();
                _ = client.incr("k", 1);
                server.clear_faults();
            }
            6 => {
                fault(Fault::Hang);
                _ = hurried.get_many::<String, _>(["a", "b"]);
            }
            _ => {
                server.refuse();
                server.close_connections();
                _ = client.get::<String>("k");
                server.listen().expect("the same port");
            }
        }
        // A call that ran out of time may have sent nothing.
        server.clear_faults();
        client.set("k", &round, Ttl::NEVER).expect("the one slot is free");
        assert_eq!(client.get("k").expect("read"), Some(round));
        let status = status(&client, &address);
        assert_eq!((status.connections, status.idle), (1, 1), "in round {round}");
    }
}
