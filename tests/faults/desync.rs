//! Faults in which a reply was taken for another request's.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use mcpool::testing::{Event, Fault, Proxy, TestServer, Weather, When};
use mcpool::{Client, ClientBuilder, Error, ErrorKind, Failover, ServerList, Ttl};
use serde::{Deserialize, Deserializer};

use crate::support::calls::{MANY, SINGLE};
use crate::support::clients::{never, passive};
use crate::support::memcached::Memcached;
use crate::support::script::{Peer, Script};
use crate::support::watch::{HANG, SLACK, timed};

/// Never taken out, so that each call meets the fault itself.
fn settings(servers: impl Into<ServerList>) -> ClientBuilder {
    passive(servers).down_after(never())
}

fn start() -> TestServer {
    TestServer::start().expect("a server")
}

/// Answers each `get KEY` with the key as its value.
fn echo(peer: &mut Peer, line: &str) {
    let key = line.split(' ').nth(1).unwrap_or_default();
    peer.send(format!("VALUE {key} 0 {}\r\n{key}\r\nEND\r\n", key.len()));
}

#[test]
fn f001_a_late_answer_never_reaches_the_next_call() {
    let server = start();
    server.put("a", "A", 0);
    server.put("b", "B", 0);
    let client = settings(server.address()).max_connections(1).build().expect("built");
    assert_eq!(client.get::<String>("a").expect("read").as_deref(), Some("A"));
    server.fault(Fault::Late(HANG), When::next(1));
    let hasty = client.with_timeout(Duration::from_millis(300)).expect("a handle");
    assert_eq!(hasty.get::<String>("a").expect_err("late").kind(), ErrorKind::Timeout);
    // Now comes what was late, if there still is anybody to hear it.
    server.clear_faults();
    assert_eq!(client.get::<String>("b").expect("read").as_deref(), Some("B"));
    let closed =
        |events: &[Event]| events.iter().any(|e| matches!(e, Event::Closed { connection: 1 }));
    assert!(server.wait_for(closed, HANG), "the late connection is closed");
    assert_eq!(client.status().servers[0].dials, 2);
}

#[test]
fn f002_f003_delays_cuts_and_resets_under_threads_give_no_value_of_another_key() {
    let server = Memcached::start();
    let proxy = Proxy::start(server.addr(), 2).expect("a proxy");
    let client = settings(proxy.address())
        .max_connections(4)
        .connect_timeout(Duration::from_millis(250))
        .timeout(Duration::from_millis(40))
        .build()
        .expect("built");
    let direct = settings(server.address()).build().expect("built");
    direct
        .set_many((0..1000).map(|n| (format!("k{n}"), format!("k{n}"))), Ttl::NEVER)
        .into_result()
        .expect("stored");
    let mut weather = Weather::calm();
    weather.delay = Duration::ZERO..Duration::from_millis(60);
    (weather.cut, weather.reset, weather.split) = (0.02, 0.02, 0.3);
    weather.requests = false;
    proxy.weather(weather);
    let hits = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for t in 0..16 {
            let (client, hits) = (&client, &hits);
            scope.spawn(move || {
                for n in 0..60 {
                    let key = format!("k{}", (t * 61 + n * 7) % 1000);
                    match client.get::<String>(&key) {
                        Ok(value) => {
                            assert_eq!(value, Some(key));
                            hits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                        Err(e) => assert!(e.may_retry(), "{e}"),
                    }
                }
            });
        }
    });
    let hits = hits.into_inner();
    assert!(proxy.injected() > 100 && hits > 0, "{} faults, {hits} hits", proxy.injected());
    proxy.weather(Weather::calm());
    let patient = client.with_timeout(Duration::from_secs(20)).expect("a handle");
    for n in 0..50 {
        assert_eq!(patient.get::<String>(format!("k{n}")).expect("calm"), Some(format!("k{n}")));
    }
}

/// A type that cannot be read without a panic.
struct Panics;

impl<'de> Deserialize<'de> for Panics {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("this type panics when it is read");
    }
}

#[test]
fn f004_a_panic_while_decoding_leaks_no_slot_and_leaves_no_bytes_behind() {
    let server = Memcached::start();
    let client = settings(server.address()).max_connections(1).build().expect("built");
    client.set("j", &vec![1.5, 2.5], Ttl::NEVER).expect("stored");
    client.set("k", "kay", Ttl::NEVER).expect("stored");
    for _ in 0..100 {
        assert!(catch_unwind(AssertUnwindSafe(|| client.get::<Panics>("j").map(drop))).is_err());
        assert_eq!(client.get::<String>("k").expect("read").as_deref(), Some("kay"));
    }
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f005_a_server_that_breaks_off_in_a_call_for_many_keys_leaves_nothing_of_the_others_behind() {
    let slow = Script::start(|peer: &mut Peer| {
        while let Some(line) = peer.line() {
            for key in line.split(' ').skip(1) {
                peer.send(format!("VALUE {key} 0 {}\r\n{key}\r\n", key.len()));
            }
            peer.send("END\r\n");
        }
    });
    // Dropped with the request unread: a reset.
    let broken = Script::start(|peer: &mut Peer| drop(peer.line()));
    let client = settings([slow.address(), broken.address()])
        .failover(Failover::Off)
        .build()
        .expect("built");
    let keys: Vec<String> = (0..40).map(|n| format!("key{n}")).collect();
    let of_slow = |key: &String| client.server_for(key).expect("legal") == slow.address();
    for round in 0..20 {
        for (key, outcome) in client.get_many::<String, _>(&keys).outcomes().iter() {
            match outcome {
                Ok(value) => assert_eq!(value.as_ref(), Some(*key)),
                Err(e) => assert!(!of_slow(key), "{e}"),
            }
        }
        let key = (0..).map(|n| format!("x{round}:{n}")).find(of_slow).expect("one");
        assert_eq!(client.get::<String>(&key).expect("read"), Some(key));
    }
}

#[test]
fn f007_a_value_under_another_key_is_an_error_and_its_connection_is_closed() {
    let server = start();
    server.put("a", "A", 0);
    let client = settings(server.address()).build().expect("built");
    server.fault(Fault::WrongKey(b"b".to_vec()), When::always());
    let errors = [
        client.get::<String>("a").expect_err("it is b's"),
        client.gets::<String>("a").expect_err("it is b's"),
        client.get_and_touch::<String>("a", Ttl::NEVER).expect_err("it is b's"),
        client.get_many::<String, _>(["a"]).into_result().expect_err("it is b's"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.to_string().contains('b'), "the line is shown: {error}");
    }
    assert_eq!(client.status().servers[0].connections, 0);
    server.clear_faults();
    assert_eq!(client.get::<String>("a").expect("read").as_deref(), Some("A"));
}

#[test]
fn f008_a_refusal_is_heard_while_the_value_is_still_being_sent() {
    for stays in [false, true] {
        let (release, held) = channel::<()>();
        let held = Mutex::new(held);
        let server = Script::start(move |peer: &mut Peer| {
            peer.line();
            peer.send("SERVER_ERROR object too large for cache\r\n");
            if stays {
                // Open, and not read from, until the test is over; then nothing is sent.
                _ = held.lock().expect("no panic").recv();
            }
        });
        // Dropped before the server, which waits for it.
        let release = release;
        let client = settings(server.address()).build().expect("a client");
        let set = || client.set_raw("k", vec![7; 32 << 20], 0, Ttl::NEVER);
        let (outcome, took) = timed(set);
        let error = outcome.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "stays open: {stays}: {error}");
        assert!(!error.may_have_been_applied(), "{error}");
        assert!(took < client.timeout() - SLACK, "heard after {took:?}");
        assert_eq!(client.status().servers[0].connections, 0, "it is out of step");
        drop(release);
    }
}

#[test]
fn f009_junk_is_an_error_and_no_part_of_it_reaches_the_next_call() {
    let server = start();
    server.put("b", "B", 0);
    let client = settings(server.address()).max_connections(1).build().expect("built");
    let junk = b"WAT 1 2 3\r\nVALUE z 0 1\r\nZ\r\nEND\r\n".to_vec();
    // Twice, since a read is sent a second time on a fresh connection.
    server.fault(Fault::Reply(junk), When::next(2));
    assert_eq!(client.get::<String>("a").expect_err("junk").kind(), ErrorKind::Protocol);
    assert_eq!(client.get::<String>("b").expect("read").as_deref(), Some("B"));
    assert_eq!(client.status().servers[0].dials, 3);
}

#[test]
fn f010_silence_is_a_time_out_and_never_a_miss() {
    let server = start();
    let client = settings(server.address()).build().expect("built");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    let token = &client.gets::<String>("k").expect("read").expect("a hit").cas;
    server.fault(Fault::Hang, When::always());
    let hasty = client.with_timeout(Duration::from_secs(1)).expect("a handle");
    std::thread::scope(|scope| {
        for call in SINGLE {
            let hasty = &hasty;
            scope.spawn(move || {
                let error = (call.run)(hasty, "k", token).expect_err(call.name);
                assert!(error.is_timeout(), "{}: {error}", call.name);
            });
        }
        for call in &MANY[..4] {
            let hasty = &hasty;
            scope.spawn(move || {
                let errors = (call.run)(hasty, &["k".to_owned(), "l".to_owned()]);
                assert_eq!(errors.len(), 2, "{}: {errors:?}", call.name);
                assert!(errors.iter().all(Error::is_timeout), "{}: {errors:?}", call.name);
            });
        }
    });
}

thread_local! {
    /// The client that a value asks while it is being read.
    static INNER: RefCell<Option<Client>> = const { RefCell::new(None) };
}

/// A value that reads another one.
#[derive(Debug, PartialEq)]
struct Nested(String);

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?;
        let client = INNER.with_borrow(Clone::clone).expect("set");
        Ok(Self(client.get("inner").expect("read").expect("a hit")))
    }
}

#[test]
fn f012_a_value_whose_reading_uses_the_client_finds_a_connection_free() {
    let server = start();
    for connections in [1, 2] {
        let client =
            settings(server.address()).max_connections(connections).build().expect("built");
        client.set("inner", "in", Ttl::NEVER).expect("stored");
        client
            .set_many([("a", "1"), ("b", "2"), ("c", "3")], Ttl::NEVER)
            .into_result()
            .expect("stored");
        INNER.set(Some(client.clone()));
        let found =
            client.get_many::<Nested, _>(["a", "b", "c"]).into_result().expect("no deadlock");
        assert!(found.iter().all(|(_, v)| *v == Some(Nested("in".to_owned()))), "{found:?}");
    }
    INNER.set(None);
}

#[test]
fn f013_values_of_every_size_come_back_byte_by_byte_under_many_threads() {
    let server = Memcached::start();
    let client = settings(server.address()).max_connections(4).build().expect("built");
    let value = |key: &str, len: usize| key.bytes().cycle().take(len).collect::<Vec<u8>>();
    std::thread::scope(|scope| {
        for t in 0..64_usize {
            let client = &client;
            scope.spawn(move || {
                for n in 0..12_usize {
                    let key = format!("k{t}:{n}");
                    let len =
                        1 + (t * 7919 + n * 104_729) % (if n == 0 { 200 << 10 } else { 5000 });
                    client.set(&key, &value(&key, len), Ttl::NEVER).expect("stored");
                    assert!(
                        client.get::<Vec<u8>>(&key).expect("read") == Some(value(&key, len)),
                        "{key}"
                    );
                }
            });
        }
    });
}

#[test]
fn f001_an_answer_that_nobody_asked_for_any_more_stays_with_its_connection() {
    let server = Script::start(|peer: &mut Peer| {
        while let Some(line) = peer.line() {
            if peer.number == 1 {
                // Answers the first request for ever after it was given up.
                peer.until_closed();
                return;
            }
            echo(peer, &line);
        }
    });
    let client =
        settings(server.address()).timeout(Duration::from_millis(100)).build().expect("built");
    assert!(client.get::<String>("first").expect_err("silent").is_timeout());
    let patient = client.with_timeout(Duration::from_secs(20)).expect("a handle");
    for n in 0..20 {
        assert_eq!(patient.get::<String>(format!("k{n}")).expect("read"), Some(format!("k{n}")));
    }
}
