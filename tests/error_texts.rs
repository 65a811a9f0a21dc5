//! Errors worth reading: the whole text of each kind, and what it says of trying again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ClientBuilder, Codec, Error, ErrorKind, Failover, Key, Phase, Server, Ttl};

use support::blackhole::blackhole;
use support::clients::{hasty, key_on, keys_on, status, steady};
use support::events::asked;
use support::memcached::Memcached;
use support::ports::refusing;
use support::watch::{HANG, until};

/// What an error has to be, whole.
struct Told<'a> {
    kind: ErrorKind,
    phase: Option<Phase>,
    advice: Advice,
    /// With the server's address and the time taken masked.
    text: &'a str,
}

/// What the predicates say.
#[derive(Debug, PartialEq, Eq, Default, Clone, Copy)]
struct Advice {
    may_retry: bool,
    may_have_been_applied: bool,
    is_timeout: bool,
    is_server_down: bool,
}

/// The call itself is wrong: it would fail again.
const NEVER: Advice = Advice {
    may_retry: false,
    may_have_been_applied: false,
    is_timeout: false,
    is_server_down: false,
};
const LATER: Advice = Advice { may_retry: true, ..NEVER };
const IN_DOUBT: Advice = Advice { may_have_been_applied: true, ..LATER };
const LATE: Advice = Advice { is_timeout: true, ..LATER };
const LATE_IN_DOUBT: Advice = Advice { may_have_been_applied: true, ..LATE };
const DOWN: Advice = Advice { is_server_down: true, ..LATER };

#[track_caller]
fn tells(error: &Error, server: &str, told: &Told<'_>) {
    let mut text = error.to_string();
    if let Some(elapsed) = error.elapsed() {
        text = text.replacen(&format!("after {elapsed:.1?}"), "after TIME", 1);
    }
    if !server.is_empty() {
        text = text.replace(server, "SERVER");
    }
    assert_eq!(text, told.text);
    assert_eq!(format!("{error:?}"), format!("Error({:?}: {error})", error.kind()));
    assert_eq!((error.kind(), error.phase()), (told.kind, told.phase), "{error}");
    let advice = Advice {
        may_retry: error.may_retry(),
        may_have_been_applied: error.may_have_been_applied(),
        is_timeout: error.is_timeout(),
        is_server_down: error.is_server_down(),
    };
    assert_eq!(advice, told.advice, "{error}");
}

fn start() -> TestServer {
    TestServer::start().unwrap()
}

/// Nothing but the test's calls talks to the server, over one connection.
fn lone(server: &str) -> ClientBuilder {
    steady(server).max_connections(1).maintenance_interval(Duration::ZERO)
}

fn client(server: &TestServer) -> Client {
    lone(&server.address()).build().unwrap()
}

/// The words of the system.
fn os(errno: rustix::io::Errno) -> String {
    std::io::Error::from_raw_os_error(errno.raw_os_error()).to_string()
}

#[test]
fn a_wrong_setting_is_named() {
    let server = start();
    for (error, text) in [
        (
            Client::builder().servers("a").timeout(Duration::ZERO).build().unwrap_err(),
            "setting `timeout`: has to be above zero",
        ),
        (Client::builder().build().unwrap_err(), "setting `servers`: at least one is needed"),
        (
            Client::new("[::1").unwrap_err(),
            "setting `servers`: server address `[::1`: the bracket of an IPv6 address is not closed",
        ),
        (
            client(&server).stats_of("a\r\n").into_result().unwrap_err(),
            "stats on SERVER failed after TIME: the kind of statistics has to be printable words",
        ),
    ] {
        let told = Told { kind: ErrorKind::Config, phase: None, advice: NEVER, text };
        tells(&error, &server.address(), &told);
    }
}

#[test]
fn a_bad_key_is_shown_with_what_is_wrong_with_it() {
    let server = start();
    let client = client(&server);
    let long = "k".repeat(251);
    let shown = format!(
        "get \"{}…\" failed while preparing the request after TIME: the key has 251 bytes with its prefix, \
         250 are allowed; shorten or hash it",
        "k".repeat(80)
    );
    for (key, text) in [
        (
            "",
            "get \"\" failed while preparing the request after TIME: the key is empty; it needs a byte at least",
        ),
        (
            "a\r\nb",
            "get \"a\\r\\nb\" failed while preparing the request after TIME: the key has the byte 0x0d at position 1; \
             spaces and control characters are not allowed: encode them, by `sanitize_keys` say",
        ),
        (long.as_str(), shown.as_str()),
    ] {
        let phase = Some(Phase::Prepare);
        let told = Told { kind: ErrorKind::InvalidKey, phase, advice: NEVER, text };
        for error in [
            client.get::<String>(key).unwrap_err(),
            client.get_many::<String, _>([key]).into_result().unwrap_err(),
        ] {
            tells(&error, "", &told);
            assert_eq!(error.key(), Some(key.as_bytes()));
            assert_eq!(error.server(), None);
        }
    }
    assert_eq!(server.events(), []);
}

#[test]
fn a_key_of_any_bytes_is_shown_as_text_and_cut() {
    let server = start();
    let client = client(&server);
    server.fault(Fault::Reply("ERROR\r\n".into()), When::always());
    let odd = [b"\xff\xfeq\"".as_slice(), &[0xc3, 0xbc].repeat(60)].concat();
    let error = client.delete(&odd[..]).unwrap_err();
    let shown = format!("\u{fffd}\u{fffd}q\\\"{}", "ü".repeat(38));
    let text = format!(
        "delete \"{shown}…\" on SERVER failed after TIME: the server answered `ERROR`; \
         look at the server's settings, memory and version"
    );
    let told = Told { kind: ErrorKind::Refused, phase: None, advice: NEVER, text: &text };
    tells(&error, &server.address(), &told);
    assert_eq!(error.key(), Some(&odd[..]), "the bytes themselves are whole");
    // Where a key lives is no part of its name.
    let error = client.delete(&Key::routed("k", "elsewhere")).unwrap_err();
    assert!(error.to_string().starts_with("delete \"k\" on "), "{error}");
}

#[test]
fn an_expiry_beyond_memcacheds_is_told_with_the_largest() {
    let server = start();
    let client = client(&server);
    let told = |text| Told {
        kind: ErrorKind::InvalidTtl,
        phase: Some(Phase::Prepare),
        advice: NEVER,
        text,
    };
    let error = client.set("k", "v", Duration::MAX).unwrap_err();
    let text = "set \"k\" failed while preparing the request after TIME: the expiry time 18446744073709551615 is \
                beyond 2147483647 seconds, the largest that memcached keeps; use Ttl::NEVER or a nearer time";
    tells(&error, "", &told(text));
    let error = client.flush_all(Duration::MAX).into_result().unwrap_err();
    let text = "flush_all on SERVER failed while preparing the request after TIME: the expiry time \
                18446744073709551615 is beyond 2147483647 seconds, the largest that memcached keeps; \
                use Ttl::NEVER or a nearer time";
    tells(&error, &server.address(), &told(text));
}

#[test]
fn a_value_too_large_is_told_with_its_size_and_whose_limit_it_is() {
    let server = start();
    let limited = lone(&server.address()).max_value_bytes(10).build().unwrap();
    let told = |phase, text| Told { kind: ErrorKind::ValueTooLarge, phase, advice: NEVER, text };
    let error = limited.set("k", "eleven long", Ttl::NEVER).unwrap_err();
    let text = "set \"k\" failed while preparing the request after TIME: the value has 11 bytes, `max_value_bytes` \
                allows 10; nothing was sent; store less, or raise the limit: `max_value_bytes` here, `-I` at the server";
    tells(&error, "", &told(Some(Phase::Prepare), text));
    server.put("k", "eleven long", 0);
    let error = limited.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while reading the reply after TIME: the server announced a value of \
                11 bytes, at most 10 are read; store less, or raise the limit: `max_value_bytes` here, `-I` at the server";
    tells(&error, &server.address(), &told(Some(Phase::Read), text));
    let error = client(&server).set("k", &vec![7_u8; 2 << 20], Ttl::NEVER).unwrap_err();
    let text = "set \"k\" on SERVER failed after TIME: the value has 2097152 bytes, and the server answered \
                `SERVER_ERROR object too large for cache`; store less, or raise the limit: `max_value_bytes` here, \
                `-I` at the server";
    tells(&error, &server.address(), &told(None, text));
}

#[test]
fn a_value_that_cannot_be_stored_or_read_is_told_with_its_types() {
    let server = start();
    let client = client(&server);
    let error = client.set("k", &f64::NAN, Ttl::NEVER).unwrap_err();
    let text = "set \"k\" failed while preparing the request after TIME: a value of type `f64` cannot be stored with \
                the Json codec: JSON has no NaN and no infinity; primitives_as_strings stores them as text";
    let phase = Some(Phase::Prepare);
    tells(&error, "", &Told { kind: ErrorKind::Encode, phase, advice: NEVER, text });
    let told =
        |text| Told { kind: ErrorKind::Decode, phase: Some(Phase::Decode), advice: NEVER, text };
    server.put("k", "abc", 0);
    let error = client.get::<u32>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while decoding the value after TIME: 3 bytes with flags 0 (Json codec: \
                text or bytes) cannot be read as `u32`: `abc` is not a whole number that u32 holds; read it as the \
                type it was stored as, or use get_raw for the bytes";
    tells(&error, &server.address(), &told(text));
    assert_eq!(error.raw_value(), Some((&b"abc"[..], 0)));
    server.put("k", "abc", 7);
    let error = client.get::<u32>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while decoding the value after TIME: 3 bytes with flags 7 (not known to \
                the Json codec) cannot be read as `u32`: another client or codec stored it; use that codec, or \
                get_raw for the bytes";
    tells(&error, &server.address(), &told(text));
    let whalin = client.with_codec(Codec::Whalin);
    whalin.set("n", &5, Ttl::NEVER).unwrap();
    let error = whalin.counter("n").unwrap_err();
    let text = "get \"n\" on SERVER failed while decoding the value after TIME: 4 bytes with flags 4 (Whalin codec: \
                Integer) cannot be read as `counter`: a number in binary form, in which the server cannot count; \
                store counters with set_counter or with primitives_as_strings, or read this one with get";
    tells(&error, &server.address(), &told(text));
}

#[test]
fn a_value_that_cannot_be_counted_is_told_in_the_servers_words() {
    let server = start();
    server.put("k", "abc", 0);
    let error = client(&server).incr("k", 1).unwrap_err();
    let text = "incr \"k\" on SERVER failed after TIME: the server answered `CLIENT_ERROR cannot increment or \
                decrement non-numeric value`; store counters with `set_counter` or as decimal text";
    let told = Told { kind: ErrorKind::NotANumber, phase: None, advice: NEVER, text };
    tells(&error, &server.address(), &told);
}

#[test]
fn a_time_out_says_whether_the_call_may_have_been_applied() {
    let server = Memcached::start();
    let client = lone(&server.address()).build().unwrap();
    client.set_counter("n", 1, Ttl::NEVER).unwrap();
    server.pause();
    let hurried = client.with_timeout(Duration::from_millis(500)).unwrap();
    let told =
        |advice, text| Told { kind: ErrorKind::Timeout, phase: Some(Phase::Read), advice, text };
    let error = hurried.incr("n", 1).unwrap_err();
    let text = "incr \"n\" on SERVER failed while reading the reply after TIME: the deadline passed; it may have \
                been applied; look at the server's load and network, or raise `timeout`";
    tells(&error, &server.address(), &told(LATE_IN_DOUBT, text));
    let error = hurried.get::<u64>("n").unwrap_err();
    let text = "get \"n\" on SERVER failed while reading the reply after TIME: the deadline passed; \
                look at the server's load and network, or raise `timeout`";
    tells(&error, &server.address(), &told(LATE, text));
    let error = hurried.version().into_result().unwrap_err();
    let text = "version on SERVER failed while reading the reply after TIME: the deadline passed; \
                look at the server's load and network, or raise `timeout`";
    tells(&error, &server.address(), &told(LATE, text));
    assert!(error.elapsed().unwrap() >= Duration::from_millis(480), "{error}");
}

#[test]
fn a_pool_without_a_free_connection_is_told_from_a_silent_server() {
    let server = start();
    let client = client(&server);
    server.fault(Fault::Late(HANG), When::next(1));
    let hurried = client.with_timeout(Duration::from_millis(100)).unwrap();
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| client.get::<String>("k"));
        assert!(server.wait_for(|events| asked(events, "get") == 1, HANG));
        let error = hurried.incr("n", 1).unwrap_err();
        let text = "incr \"n\" on SERVER failed while waiting for a connection after TIME: every connection was in \
                    use; raise `max_connections` or `timeout`, or call from fewer threads";
        let phase = Some(Phase::Wait);
        let told = Told { kind: ErrorKind::PoolExhausted, phase, advice: LATE, text };
        tells(&error, &server.address(), &told);
        server.clear_faults();
        holder.join().unwrap().unwrap();
    });
}

#[test]
fn a_server_that_cannot_be_reached_is_told_with_the_reason() {
    fn told(phase: Option<Phase>, text: &str) -> Told<'_> {
        Told { kind: ErrorKind::ServerDown, phase, advice: DOWN, text }
    }
    let server = refusing();
    let client = lone(&server).build().unwrap();
    let refused = os(rustix::io::Errno::CONNREFUSED);
    for (error, call) in [
        (client.get::<String>("user:42").unwrap_err(), "get \"user:42\""),
        (client.version().into_result().unwrap_err(), "version"),
        (client.warm_up().into_result().unwrap_err(), "warm_up"),
    ] {
        let text = format!(
            "{call} on SERVER failed while connecting after TIME: {refused}; \
             it is tried again by itself after a short pause"
        );
        tells(&error, &server, &told(Some(Phase::Connect), &text));
        let source = std::error::Error::source(&error).expect("the system's error");
        assert_eq!(source.to_string(), refused);
    }
    let down = hasty(server.as_str()).build().unwrap();
    until("it is known to be down", || down.get::<String>("k").unwrap_err().phase().is_none());
    let error = down.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed after TIME: the server is down; \
                it is tried again by itself after a short pause";
    tells(&error, &server, &told(None, text));
    let hole = blackhole();
    let client = lone(&hole.address()).connect_timeout(Duration::from_millis(50)).build().unwrap();
    let error = client.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while connecting after TIME: no answer in time; \
                it is tried again by itself after a short pause";
    tells(&error, &hole.address(), &told(Some(Phase::Connect), text));
    let full = start();
    full.fault(Fault::TurnAway("ERROR Too many open connections\r\n".into()), When::always());
    let error = self::client(&full).append("k", "v").unwrap_err();
    let text = "append \"k\" on SERVER failed while connecting after TIME: ERROR Too many open connections; \
                it is tried again by itself after a short pause";
    tells(&error, &full.address(), &told(Some(Phase::Connect), text));
    let error = lone("no-such-host.invalid").build().unwrap().get::<String>("k").unwrap_err();
    let text = error.to_string();
    let start = "get \"k\" on no-such-host.invalid:11211 failed while resolving the name after ";
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with("; it is tried again by itself after a short pause"), "{text}");
}

#[test]
fn a_connection_that_ends_is_told_from_a_peer_that_is_no_memcached() {
    let server = start();
    let client = client(&server);
    let phase = Some(Phase::Read);
    server.fault(Fault::CloseAfter(0), When::always());
    let told = |advice, text| Told { kind: ErrorKind::ConnectionLost, phase, advice, text };
    let error = client.append("k", "v").unwrap_err();
    let text = "append \"k\" on SERVER failed while reading the reply after TIME: the server closed the connection; \
                it may have been applied; the connection was closed and the next call opens another";
    tells(&error, &server.address(), &told(IN_DOUBT, text));
    let error = client.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while reading the reply after TIME: the server closed the connection; \
                the connection was closed and the next call opens another";
    tells(&error, &server.address(), &told(LATER, text));
    server.clear_faults();
    server.fault(Fault::Reply("nonsense\r\n".into()), When::always());
    let told = |advice, text| Told { kind: ErrorKind::Protocol, phase, advice, text };
    let error = client.set("k", "v", Ttl::NEVER).unwrap_err();
    let text = "set \"k\" on SERVER failed while reading the reply after TIME: the server answered set with \
                `nonsense`; it may have been applied; check that the address is a memcached's; the connection was closed";
    tells(&error, &server.address(), &told(IN_DOUBT, text));
    let error = client.get::<String>("k").unwrap_err();
    let text = "get \"k\" on SERVER failed while reading the reply after TIME: the server answered get with \
                `nonsense`; check that the address is a memcached's; the connection was closed";
    tells(&error, &server.address(), &told(LATER, text));
}

#[test]
fn a_refusal_quotes_the_server() {
    let server = start();
    server.fault(
        Fault::Reply("SERVER_ERROR out of memory storing object\r\n".into()),
        When::always(),
    );
    let error = client(&server).set("k", "v", Ttl::NEVER).unwrap_err();
    let text = "set \"k\" on SERVER failed after TIME: the server answered `SERVER_ERROR out of memory storing \
                object`; look at the server's settings, memory and version";
    let told = Told { kind: ErrorKind::Refused, phase: None, advice: NEVER, text };
    tells(&error, &server.address(), &told);
}

#[test]
fn a_delete_on_a_substitute_names_both_servers() {
    let (first, second) = (refusing(), start());
    let client = steady([first.clone(), second.address()])
        .failover(Failover::NextServer)
        .maintenance_interval(Duration::ZERO)
        .build()
        .unwrap();
    let key = key_on(&client, &first, "k");
    let text = format!(
        "delete \"{key}\" on SERVER failed after TIME: the server could not be asked and the delete reached {} \
         in its place; it may have been applied; delete again once its own server is back",
        second.address()
    );
    let told = Told { kind: ErrorKind::Substituted, phase: None, advice: IN_DOUBT, text: &text };
    for error in
        [client.delete(&key).unwrap_err(), client.delete_many([&key]).into_result().unwrap_err()]
    {
        tells(&error, &first, &told);
    }
}

#[test]
fn a_closed_client_says_so_in_every_call() {
    let server = start();
    let client = client(&server);
    client.close();
    for (error, call) in [
        (client.get::<String>("k").unwrap_err(), "get \"k\""),
        (client.delete_many(["k"]).into_result().unwrap_err(), "delete \"k\""),
        (client.version().into_result().unwrap_err(), "version on SERVER"),
        (client.warm_up().into_result().unwrap_err(), "warm_up on SERVER"),
    ] {
        let text = format!("{call} failed after TIME: the client was closed; build another one");
        let told = Told { kind: ErrorKind::Closed, phase: None, advice: NEVER, text: &text };
        tells(&error, &server.address(), &told);
    }
}

#[test]
fn each_key_of_a_call_for_many_has_an_error_that_names_its_server() {
    let (server, other) = (Memcached::start(), start());
    let client = steady([server.address(), other.address()])
        .failover(Failover::Off)
        .timeout(Duration::from_secs(1))
        .build()
        .unwrap();
    let keys: Vec<_> = keys_on(&client, &server.address(), "k").take(2).collect();
    server.pause();
    let found = client.get_many::<String, _>(&keys);
    for key in &keys {
        let text = format!(
            "get \"{key}\" on SERVER failed while reading the reply after TIME: the deadline passed; \
             look at the server's load and network, or raise `timeout`"
        );
        let phase = Some(Phase::Read);
        let told = Told { kind: ErrorKind::Timeout, phase, advice: LATE, text: &text };
        let error = found.outcome(key).unwrap().as_ref().unwrap_err();
        tells(error, &server.address(), &told);
        assert_eq!(error.key(), Some(key.as_bytes()));
    }
}

#[test]
fn a_call_for_many_keys_whose_time_is_over_before_it_began_says_so() {
    let server = start();
    let client = client(&server).with_timeout(Duration::from_nanos(1)).unwrap();
    let error = client.get_many::<String, _>(["k"]).into_result().unwrap_err();
    let text = "get \"k\" on SERVER failed while preparing the request after TIME: the deadline passed; \
                look at the server's load and network, or raise `timeout`";
    let phase = Some(Phase::Prepare);
    let told = Told { kind: ErrorKind::Timeout, phase, advice: LATE, text };
    tells(&error, &server.address(), &told);
}

#[test]
fn nothing_that_is_shown_holds_credentials_or_values() {
    const SECRET: &str = "hunter2";
    let server = start();
    let client = lone(&server.address()).key_prefix("app:").build().unwrap();
    client.set("k", SECRET, Ttl::NEVER).unwrap();
    let item = client.gets::<String>("k").unwrap().unwrap();
    let address = format!("memcache://user:{SECRET}@127.0.0.1:11211");
    server.fault(Fault::CloseAfter(0), When::next(1));
    let lost = client.append("k", SECRET).unwrap_err();
    server.fault(Fault::Reply("SERVER_ERROR no\r\n".into()), When::next(1));
    let refused = client.set("k", SECRET, Ttl::NEVER).unwrap_err();
    let foreign = lone("127.0.0.1:1").build().unwrap();
    let shown = [
        format!("{client:?}"),
        format!("{:?}", client.status()),
        format!("{:?}", status(&client, &server.address())),
        format!("{:?}", item.cas),
        format!("{server:?}"),
        format!("{:?} {0}", Server::new(&address).unwrap_err()),
        format!("{:?}", Client::builder().servers(address.as_str())),
        format!("{:?} {0}", Client::new(address.as_str()).unwrap_err()),
        format!("{lost:?} {lost}"),
        format!("{refused:?} {refused}"),
        format!("{:?} {0}", foreign.cas("k", SECRET, Ttl::NEVER, &item.cas).unwrap_err()),
    ];
    for text in shown {
        assert!(!text.contains(SECRET), "{text}");
    }
}
