//! Faults of calls about servers: figures that break the reader, successes that are none.

use std::time::{Duration, Instant};

use mcpool::testing::{Fault, Proxy, TestServer, Weather, When};
use mcpool::{Client, ClientBuilder, DownAfter, ErrorKind, ServerList, Ttl};

use crate::support::memcached::Memcached;
use crate::support::script::{Peer, Script};

fn settings(servers: impl Into<ServerList>) -> ClientBuilder {
    Client::builder()
        .servers(servers)
        .min_connections(0)
        .down_after(DownAfter::new(1000, Duration::from_secs(10)))
        .timeout(Duration::from_secs(20))
}

#[test]
fn f220_f221_figures_with_blanks_without_values_and_of_any_bytes_are_read() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("built");
    let reply =
        b"STAT version 1.4.14 (Ubuntu)\r\nSTAT logger standard error\r\nSTAT ep_initfile \r\n\
        STAT x\r\nSTAT bytes \xff\xfe\r\nSTAT x 2\r\nEND\r\n";
    server.fault(Fault::Reply(reply.to_vec()), When::next(1));
    let stats = client.stats().into_result().expect("read").remove(0).1;
    assert_eq!(stats["version"], "1.4.14 (Ubuntu)");
    assert_eq!(stats["logger"], "standard error");
    assert_eq!(stats["ep_initfile"].trim(), "");
    assert!(stats.contains_key("bytes") && stats.contains_key("x"));
    // A name that is none is no figure, and no panic either.
    server.fault(Fault::Reply(b"STAT \r\nEND\r\n".to_vec()), When::next(2));
    let outcome = client.stats().into_result();
    assert!(
        outcome.as_ref().map_or_else(|e| e.kind() == ErrorKind::Protocol, |s| s[0].1.len() <= 1),
        "{outcome:?}"
    );
    assert_eq!(client.get::<String>("k").expect("in step"), None);
}

#[test]
fn f222_statistics_of_every_kind_end_at_once_with_figures_or_a_typed_error() {
    let server = Memcached::start();
    let client = settings(server.address()).build().expect("built");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    for kind in [
        "items",
        "slabs",
        "settings",
        "sizes",
        "conns",
        "cachedump 1 2",
        "detail on",
        "detail dump",
        "detail off",
        "reset",
        "nonsense",
    ] {
        let started = Instant::now();
        if let Err(e) = client.stats_of(kind).into_result() {
            assert_eq!(e.kind(), ErrorKind::Refused, "{kind}: {e}");
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{kind}");
        assert_eq!(client.get::<String>("k").expect("in step").as_deref(), Some("v"), "{kind}");
    }
}

#[test]
fn f223_long_lists_come_whole_also_in_pieces() {
    let server = Memcached::start();
    let proxy = Proxy::start(server.addr(), 3).expect("a proxy");
    let mut weather = Weather::calm();
    weather.split = 0.5;
    proxy.weather(weather);
    let direct = settings(server.address()).build().expect("built");
    direct
        .set_many((0..60_000).map(|n| (format!("key:{n}"), n)), Ttl::NEVER)
        .into_result()
        .expect("stored");
    let client = settings(proxy.address()).build().expect("built");
    let keys = client.dump_keys().into_result().expect("read").remove(0).1;
    assert_eq!(keys.len(), 60_000);
    let stats = client.stats().into_result().expect("read").remove(0).1;
    assert_eq!(stats["curr_items"], "60000");
}

#[test]
fn f224_one_server_that_fails_leaves_the_others_results() {
    let (live, stopped) = (Memcached::start(), Memcached::start());
    let odd =
        Script::start(|peer: &mut Peer| while peer.line().is_some() && peer.send("ERROR\r\n") {});
    let dead = TestServer::start().expect("a server");
    let addresses = [live.address(), stopped.address(), odd.address(), dead.address()];
    let client =
        settings(addresses.clone()).timeout(Duration::from_millis(700)).build().expect("built");
    dead.stop();
    stopped.pause();
    let started = Instant::now();
    let stats = client.stats();
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "one deadline for all: {:?}",
        started.elapsed()
    );
    let kind = |n: usize| {
        stats.server(&addresses[n]).expect("a result").as_ref().err().map(mcpool::Error::kind)
    };
    assert_eq!(kind(0), None);
    assert_eq!(kind(1), Some(ErrorKind::Timeout));
    assert_eq!(kind(2), Some(ErrorKind::Refused));
    assert_eq!(kind(3), Some(ErrorKind::ServerDown));
    stopped.resume();
}

#[test]
fn f226_no_command_line_has_a_blank_too_many() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("built");
    let ttl = Ttl::NEVER;
    client.set("k", "v", ttl).expect("asked");
    client.gets::<String>("k").expect("asked");
    client.get_many::<String, _>(["k", "l"]).into_result().expect("asked");
    client.get_and_touch::<String>("k", ttl).expect("asked");
    client.touch("k", ttl).expect("asked");
    client.incr("n", 1).expect("asked");
    client.delete("k").expect("asked");
    client.stats().into_result().expect("asked");
    client.stats_of("items").into_result().expect("asked");
    client.version().into_result().expect("asked");
    client.flush_all(Duration::ZERO).into_result().expect("asked");
    client.flush_all(Duration::from_secs(5)).into_result().expect("asked");
    client.verbosity(1).into_result().expect("asked");
    client.dump_keys().into_result().expect("asked");
    for line in server.commands() {
        assert!(line == line.trim() && !line.contains("  "), "{line:?}");
    }
}

#[test]
fn f227_a_flush_that_a_server_refuses_or_never_hears_is_no_success() {
    let refusing = Memcached::start_with(&["-F"]);
    let dead = TestServer::start().expect("a server");
    let client = settings([refusing.address(), dead.address()]).build().expect("built");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    dead.stop();
    for delay in [Duration::ZERO, Duration::from_secs(1)] {
        let flushed = client.flush_all(delay);
        let error = flushed
            .server(&refusing.address())
            .expect("a result")
            .as_ref()
            .expect_err("not allowed");
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(flushed.server(&dead.address()).expect("a result").is_err());
        assert!(flushed.into_result().is_err());
    }
}

#[test]
fn f228_a_delayed_flush_says_when_and_a_far_one_is_sent_as_a_date() {
    let server = TestServer::start().expect("a server");
    server.clock().freeze();
    let client = settings(server.address()).build().expect("built");
    client.flush_all(Duration::from_secs(2)).into_result().expect("asked");
    assert_eq!(server.commands(), ["flush_all 2"]);
    client.set("k", "v", Ttl::NEVER).expect("stored");
    assert!(client.contains_key("k").expect("read"));
    server.clock().advance(Duration::from_secs(3));
    assert!(!client.contains_key("k").expect("read"), "also what came after the call");
    server.clear_events();
    client.flush_all(Duration::from_secs(31 * 86_400)).into_result().expect("asked");
    let date: u64 =
        server.commands()[0].trim_start_matches("flush_all ").parse().expect("a number");
    assert!(date > 1_600_000_000, "{date}");
}

#[test]
fn f229_verbosity_of_any_level_leaves_the_connection_in_step() {
    let server = Memcached::start();
    let client = settings(server.address()).build().expect("built");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    for level in [0, 1, 0, 99, 0] {
        client.verbosity(level).into_result().expect("OK");
        client.dump_keys().into_result().expect("a list");
        assert_eq!(client.get::<String>("k").expect("in step").as_deref(), Some("v"));
    }
    assert_eq!(client.status().servers[0].dials, 1);
}
