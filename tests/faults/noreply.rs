//! Faults of requests without replies: mcpool asks for every reply, and pipelines instead.

use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ClientBuilder, ErrorKind, Ttl};

use crate::support::memcached::Memcached;

fn settings(address: impl Into<String>) -> ClientBuilder {
    Client::builder()
        .servers(address.into())
        .min_connections(0)
        .max_connections(1)
        .timeout(Duration::from_secs(20))
}

#[test]
fn f167_refused_stores_in_a_pipeline_shift_no_later_reply() {
    let server = Memcached::start();
    let client = settings(server.address()).build().expect("built");
    client.set("x", "ex", Ttl::NEVER).expect("stored");
    client.set("text", "abc", Ttl::NEVER).expect("stored");
    let huge = "v".repeat(2_000_000);
    for round in 0..20 {
        let entries = [("a", "1"), ("big", huge.as_str()), ("b", "2")];
        let stored = client.set_many(entries, Ttl::NEVER);
        assert!(
            stored.outcome("a").expect("asked").is_ok()
                && stored.outcome("b").expect("asked").is_ok()
        );
        let error = stored.outcome("big").expect("asked").as_ref().expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge);
        assert!(!client.add("x", "no", Ttl::NEVER).expect("asked"));
        assert!(client.incr("text", 1).is_err());
        assert!(!client.delete(format!("none{round}")).expect("asked"));
        assert_eq!(client.get::<String>("x").expect("read").as_deref(), Some("ex"));
    }
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f168_a_bad_key_among_many_is_refused_here_and_makes_no_line_that_nobody_reads() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("built");
    client.set("x", "ex", Ttl::NEVER).expect("stored");
    let long = "k".repeat(251);
    let stored = client.set_many([("a", 1), (long.as_str(), 2), ("b c", 3), ("d", 4)], Ttl::NEVER);
    assert_eq!(stored.failures().count(), 2);
    assert_eq!(client.get::<String>("x").expect("read").as_deref(), Some("ex"));
    assert!(server.commands().iter().all(|line| !line.contains("b c") && line.len() < 250));
}

#[test]
fn f169_no_request_is_ever_sent_without_asking_for_its_reply() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("built");
    let ttl = Ttl::NEVER;
    client.set("k", "v", ttl).expect("asked");
    client.set_many([("a", 1), ("b", 2)], ttl).into_result().expect("asked");
    client.add("k", "v", ttl).expect("asked");
    client.replace("k", "v", ttl).expect("asked");
    client.append("k", "v").expect("asked");
    client.prepend("k", "v").expect("asked");
    client.touch("k", ttl).expect("asked");
    client.incr("n", 1).expect("asked");
    client.decr("n", 1).expect("asked");
    client.delete("k").expect("asked");
    client.delete_many(["a", "b"]).into_result().expect("asked");
    client.flush_all(Duration::ZERO).into_result().expect("asked");
    client.verbosity(0).into_result().expect("asked");
    let commands = server.commands();
    assert_eq!(commands.len(), 15);
    assert!(commands.iter().all(|line| !line.contains("noreply")), "{commands:?}");
}

#[test]
fn f171_the_value_stored_last_in_a_pipeline_is_read_at_once() {
    let server = Memcached::start();
    let client = settings(server.address()).build().expect("built");
    let started = Instant::now();
    client
        .set_many((0..100).map(|n| (format!("k{n}"), n)), Ttl::NEVER)
        .into_result()
        .expect("stored");
    assert_eq!(client.get::<u32>("k99").expect("read"), Some(99));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn f172_a_store_is_a_success_only_when_the_server_said_so_and_a_close_behind_it_costs_nothing() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("built");
    server.fault(Fault::CloseAfter(8), When::always().verb("set"));
    for n in 0..50 {
        client.set("x", &n, Ttl::NEVER).expect("STORED has eight bytes");
        assert_eq!(client.get::<i32>("x").expect("on a fresh connection"), Some(n));
    }
    let real = Memcached::start();
    let client = settings(real.address()).build().expect("built");
    client.set("k", "small", Ttl::NEVER).expect("stored");
    let error = client.set("k", &"v".repeat(2_000_000), Ttl::NEVER).expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::ValueTooLarge);
    assert_eq!(client.get::<String>("k").expect("read"), None, "memcached drops the old value");
}
