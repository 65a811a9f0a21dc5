//! Faults of reading replies: pieces, wrong lengths, values that look like protocol.

use std::time::Duration;

use mcpool::testing::{Fault, Proxy, TestServer, Weather, When};
use mcpool::{CasOutcome, Client, ClientBuilder, ErrorKind, Ttl};

use crate::support::clients::{never, passive};
use crate::support::memcached::Memcached;

fn settings(address: impl Into<String>) -> ClientBuilder {
    passive(address.into()).down_after(never())
}

/// A client whose every byte comes and goes in small pieces.
fn split(server: &Memcached) -> (Proxy, Client) {
    let proxy = Proxy::start(server.addr(), 5).expect("a proxy");
    let mut weather = Weather::calm();
    weather.split = 1.0;
    proxy.weather(weather);
    let client = settings(proxy.address()).build().expect("a client");
    (proxy, client)
}

#[test]
fn f173_every_call_gives_the_same_result_when_replies_come_byte_by_byte() {
    let server = TestServer::start().expect("a server");
    server.fault(Fault::Dribble { bytes: 1, pause: Duration::from_micros(50) }, When::always());
    let client = settings(server.address()).build().expect("a client");
    client.set("n", &41, Ttl::NEVER).expect("stored");
    assert_eq!(client.incr("n", 1).expect("counted"), Some(42));
    assert_eq!(client.get::<u32>("n").expect("read"), Some(42));
    assert!(!client.add("n", &1, Ttl::NEVER).expect("asked"));
    let item = client.gets::<u32>("n").expect("read").expect("a hit");
    assert_eq!(client.cas("n", &7, Ttl::NEVER, &item.cas).expect("asked"), CasOutcome::Stored);
    assert!(client.touch("n", Ttl::NEVER).expect("asked"));
    assert_eq!(client.get_and_touch::<u32>("n", Ttl::NEVER).expect("read"), Some(7));
    let found = client.get_many::<u32, _>(["n", "none"]).into_result().expect("read");
    assert_eq!(found, [("n", Some(7)), ("none", None)]);
    assert_eq!(client.version().into_result().expect("asked").len(), 1);
    assert!(client.stats().into_result().expect("asked")[0].1.contains_key("pid"));
    assert_eq!(client.dump_keys().into_result().expect("asked")[0].1.len(), 1);
    assert!(client.delete("n").expect("asked"));
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f174_values_of_every_size_survive_replies_in_random_pieces() {
    let server = Memcached::start();
    let (proxy, client) = split(&server);
    for n in 0..300_usize {
        let value: Vec<u8> = (0..(n * 7919) % 65_536).map(|i| i.to_le_bytes()[0]).collect();
        client.set("k", &value, Ttl::NEVER).expect("stored");
        assert!(client.get::<Vec<u8>>("k").expect("read") == Some(value), "{n}");
    }
    assert!(proxy.injected() > 300);
}

#[test]
fn f176_a_value_longer_than_announced_is_an_error_and_no_part_of_it_is_given() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("a client");
    for reply in ["VALUE k 0 3\r\nabcdef\r\nEND\r\n", "VALUE k 0 3\r\nabcXYEND\r\n"] {
        server.fault(Fault::Reply(reply.into()), When::next(2));
        assert_eq!(client.get::<String>("k").expect_err("too long").kind(), ErrorKind::Protocol);
        assert_eq!(client.status().servers[0].connections, 0);
    }
}

#[test]
fn f177_a_value_shorter_than_announced_ends_with_the_deadline_and_its_connection() {
    let server = TestServer::start().expect("a server");
    let client =
        settings(server.address()).timeout(Duration::from_secs(1)).build().expect("a client");
    server.fault(Fault::Reply(b"VALUE k 0 12\r\nabc\r\nEND\r\n".to_vec()), When::next(1));
    assert!(client.get::<String>("k").expect_err("too short").is_timeout());
    assert_eq!(client.status().servers[0].connections, 0);
    let real = Memcached::start();
    let (_proxy, client) = split(&real);
    let value: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    client.set("big", &value, Ttl::NEVER).expect("stored");
    assert!(client.get::<Vec<u8>>("big").expect("read") == Some(value));
}

#[test]
fn f178_values_full_of_line_ends_come_back_alone_and_together() {
    let server = Memcached::start();
    let (_proxy, client) = split(&server);
    let ends = ["\r", "\n", "\r\n", "\n\r", "\r\r\n\n", "END\r\n", "\r\nEND\r\n"];
    for round in 0..60_usize {
        let value = |n: usize| {
            let end = |i: usize| ends[(round * 31 + n * 7 + i) % ends.len()];
            format!("{}text{}{}", end(0), end(1), end(2))
        };
        let entries: Vec<_> = (0..5).map(|n| (format!("k{n}"), value(n))).collect();
        client.set_many(entries.clone(), Ttl::NEVER).into_result().expect("stored");
        let found: Vec<_> = client
            .get_many::<String, _>(entries.iter().map(|(k, _)| k.clone()))
            .into_iter()
            .collect();
        assert_eq!(found, entries);
        assert_eq!(client.get::<String>("k0").expect("read"), Some(value(0)));
    }
}
