//! Counters: what any call stored can be counted, what cannot be is said to be, nothing wraps unasked.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Codec, Error, ErrorKind, Ttl};
use serde_json::{Value, json};

use crate::stand::Stand;
use crate::support::clients::patient;

/// Nothing but the test's calls talks to the server.
fn client(server: &TestServer) -> Client {
    let builder = patient(server.address());
    builder.maintenance_interval(Duration::ZERO).build().unwrap()
}

#[test]
fn f126_f127_whatever_way_a_number_was_stored_it_can_be_counted() {
    for stand in [Stand::embedded(), Stand::real()] {
        for as_strings in [false, true] {
            let client = stand.builder().primitives_as_strings(as_strings).build().unwrap();
            type Way = fn(&Client) -> Result<(), Error>;
            let ways: [Way; 8] = [
                |c| c.set("n", &5_u32, Ttl::NEVER),
                |c| c.set("n", &5_i64, Ttl::NEVER),
                |c| c.set("n", "5", Ttl::NEVER),
                |c| c.set("n", b"5", Ttl::NEVER),
                |c| c.set("n", &Some(5_u8), Ttl::NEVER),
                |c| c.set_raw("n", "5", 0, Ttl::NEVER),
                |c| c.set_counter("n", 5, Ttl::NEVER),
                |c| c.incr_or_init("n", 1, 5, Ttl::NEVER).map(drop),
            ];
            for (i, way) in ways.iter().enumerate() {
                client.delete("n").unwrap();
                way(&client).unwrap();
                assert_eq!(client.incr("n", 1).unwrap(), Some(6), "way {i}");
                assert_eq!(client.get_raw("n").unwrap().unwrap().bytes, b"6", "way {i}");
                assert_eq!(client.counter("n").unwrap(), Some(6), "way {i}");
                assert_eq!(client.decr("n", 2).unwrap(), Some(4), "way {i}");
            }
        }
        // The one codec that stores numbers in binary form says so when they are counted.
        let whalin = stand.builder().codec(Codec::Whalin).build().unwrap();
        whalin.set("n", &5_i32, Ttl::NEVER).unwrap();
        let error = whalin.incr("n", 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotANumber);
        assert!(error.to_string().contains("set_counter"), "{error}");
    }
}

#[test]
fn f128_the_blanks_that_decr_leaves_disturb_no_reading_of_a_number() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for (start, by, left, stored) in
            [("10", 1, 9, "9 "), ("1000", 1, 999, "999 "), ("1000", 901, 99, "99  ")]
        {
            client.set("n", start, Ttl::NEVER).unwrap();
            assert_eq!(client.decr("n", by).unwrap(), Some(left));
            assert_eq!(client.get::<u64>("n").unwrap(), Some(left));
            assert_eq!(client.gets::<u64>("n").unwrap().unwrap().value, left);
            assert_eq!(client.get_many::<u64, _>(["n"]).get("n"), Some(&left));
            assert_eq!(client.counter("n").unwrap(), Some(left));
            // A string is what is stored, blanks and all.
            assert_eq!(client.get::<String>("n").unwrap().as_deref(), Some(stored));
        }
    }
}

#[test]
fn f129_a_counter_is_an_ordinary_number_to_get() {
    for stand in [Stand::embedded(), Stand::real()] {
        for codec in [Codec::Json, Codec::Whalin] {
            let client = stand.builder().codec(codec).build().unwrap();
            client.delete("n").unwrap();
            assert_eq!(client.incr_or_init("n", 1, 41, Ttl::NEVER).unwrap(), Some(41));
            assert_eq!(client.incr("n", 1).unwrap(), Some(42));
            assert_eq!(client.get::<u64>("n").unwrap(), Some(42));
            assert_eq!(client.get::<i32>("n").unwrap(), Some(42));
        }
        let client = stand.client();
        client.delete("n").unwrap();
        client.incr_or_init("n", 1, 42, Ttl::NEVER).unwrap();
        assert_eq!(client.get::<Value>("n").unwrap(), Some(json!(42)));
    }
}

#[test]
fn f130_f134_steps_of_every_size_go_out_as_they_are_and_none_is_negative() {
    let wire = TestServer::start().unwrap();
    let watched = client(&wire);
    let stand = Stand::real();
    let client = stand.client();
    for by in [0, 1, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 1 << 63, u64::MAX] {
        for client in [&client, &watched] {
            client.set_counter("n", 6, Ttl::NEVER).unwrap();
            assert_eq!(client.incr("n", by).unwrap(), Some(6_u64.wrapping_add(by)));
            assert_eq!(
                client.decr("n", by).unwrap(),
                Some(6_u64.wrapping_add(by).saturating_sub(by))
            );
        }
        let commands = wire.commands();
        assert!(commands.contains(&format!("incr n {by}")), "{commands:?}");
        assert!(commands.contains(&format!("decr n {by}")), "{commands:?}");
    }
}

#[test]
fn f131_a_negative_number_cannot_be_counted_and_the_error_says_why() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        client.set("n", &-5, Ttl::NEVER).unwrap();
        for error in [client.incr("n", 1).unwrap_err(), client.decr("n", 1).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::NotANumber);
            assert!(error.to_string().contains("non-numeric value"), "{error}");
            assert!(!error.may_have_been_applied() && !error.may_retry());
            assert_eq!(error.server(), Some(stand.address()));
            assert_eq!(client.get::<i32>("n").unwrap(), Some(-5));
        }
        assert_eq!(client.status().servers[0].dials, 1);
    }
}

#[test]
fn f132_an_error_line_in_place_of_a_number_is_the_servers_error() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        for value in ["abc", "", "5.0", "1e3", "18446744073709551616"] {
            client.set("n", value, Ttl::NEVER).unwrap();
            let error = client.incr("n", 1).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotANumber, "{value:?}: {error}");
            assert_eq!(client.get::<String>("n").unwrap().as_deref(), Some(value));
        }
    }
    let server = TestServer::start().unwrap();
    let client = client(&server);
    for text in ["SERVER_ERROR out of memory in incr", "ERROR", "CLIENT_ERROR bad"] {
        server.fault(Fault::Reply(format!("{text}\r\n").into()), When::next(1).verb("incr"));
        let error = client.incr("n", 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    // What is neither a number nor an error is not taken for either.
    for text in ["", "x", "-1", "18446744073709551616", "1 2", "STORED"] {
        server.fault(Fault::Reply(format!("{text}\r\n").into()), When::next(1).verb("incr"));
        let error = client.incr("n", 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{text:?}: {error}");
        assert!(error.may_have_been_applied(), "{error}");
    }
}

#[test]
fn f133_decr_stops_at_zero() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        client.set("n", "3", Ttl::NEVER).unwrap();
        assert_eq!(client.decr("n", 5).unwrap(), Some(0));
        assert_eq!(client.decr("n", 1).unwrap(), Some(0));
        assert_eq!(client.decr("n", u64::MAX).unwrap(), Some(0));
        assert_eq!(client.counter("n").unwrap(), Some(0));
    }
}

#[test]
fn f136_counting_what_is_not_there_is_none_and_creates_nothing() {
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        assert_eq!(client.incr("n", 1).unwrap(), None);
        assert_eq!(client.decr("n", 1).unwrap(), None);
        assert_eq!(client.counter("n").unwrap(), None);
        assert!(!client.contains_key("n").unwrap());
        assert_eq!(client.incr_or_init("n", 1, 0, Ttl::NEVER).unwrap(), Some(0));
        assert_eq!(client.decr_or_init("m", 1, 7, Ttl::NEVER).unwrap(), Some(7));
    }
}

#[test]
fn f138_many_first_users_of_a_counter_lose_no_count() {
    const THREADS: u64 = 32;
    const EACH: u64 = 100;
    let stand = Stand::real();
    let client = stand.client();
    let start = Barrier::new(usize::try_from(THREADS).unwrap());
    let count = |deletes: bool| {
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    start.wait();
                    for i in 0..EACH {
                        let n = client.incr_or_init("n", 1, 1, Duration::from_secs(1000));
                        assert!(n.unwrap().is_some_and(|n| 0 < n && n <= THREADS * EACH));
                        if deletes && i % 10 == 0 {
                            client.delete("n").unwrap();
                        }
                    }
                });
            }
        });
    };
    count(false);
    assert_eq!(client.counter("n").unwrap(), Some(THREADS * EACH));
    // The expiry given at creation is that of the counter.
    let meta = stand.raw("mg n t\r\n", "\r\n");
    let left: u32 = meta.trim_end().strip_prefix("HD t").unwrap().parse().unwrap();
    assert!((900..=1000).contains(&left), "{meta}");
    assert!(client.delete("n").unwrap());
    count(true);
}
