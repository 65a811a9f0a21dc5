//! Faults of errors: reasons lost, results and errors confused, bad replies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{ClientBuilder, ErrorKind, Ttl};

use crate::support::clients::{never, passive};
use crate::support::memcached::Memcached;

fn settings(address: impl Into<String>) -> ClientBuilder {
    passive(address.into()).down_after(never())
}

#[test]
fn f111_each_trouble_has_a_kind_of_its_own_and_names_server_and_reason() {
    let server = TestServer::start().expect("a server");
    let client = settings(server.address()).build().expect("built");
    let name = server.address();
    client.set("text", "abc", Ttl::NEVER).expect("stored");
    let too_large = client.set("k", &vec![0_u8; 2 << 20], Ttl::NEVER).expect_err("too large");
    let not_a_number = client.incr("text", 1).expect_err("no number");
    server.fault(Fault::Reply(b"CLIENT_ERROR malformed\r\n".to_vec()), When::next(1));
    let refused = client.touch("text", Ttl::NEVER).expect_err("refused");
    server.fault(Fault::Hang, When::next(1));
    let hasty = client.with_timeout(Duration::from_millis(300)).expect("a handle");
    let timeout = hasty.get::<String>("text").expect_err("silent");
    assert!(!client.add("text", "x", Ttl::NEVER).expect("not stored is no error"));
    server.stop();
    let down = client.get::<String>("text").expect_err("down");
    for (error, kind, reason) in [
        (too_large, ErrorKind::ValueTooLarge, "object too large for cache"),
        (not_a_number, ErrorKind::NotANumber, "non-numeric value"),
        (refused, ErrorKind::Refused, "CLIENT_ERROR malformed"),
        (timeout, ErrorKind::Timeout, "deadline"),
        (down, ErrorKind::ServerDown, "refused"),
    ] {
        assert_eq!(error.kind(), kind);
        let text = error.to_string();
        assert!(text.contains(&name) && text.contains(reason), "{text}");
    }
}

#[test]
fn f112_conditions_that_are_not_met_are_results_and_no_errors() {
    let server = Memcached::start();
    let client = settings(server.address()).build().expect("built");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    assert!(!client.add("k", "x", Ttl::NEVER).expect("asked"));
    assert!(!client.replace("none", "x", Ttl::NEVER).expect("asked"));
    assert!(!client.append("none", "x").expect("asked"));
    assert!(!client.prepend("none", "x").expect("asked"));
}

#[test]
fn f113_of_thirty_two_threads_that_add_one_key_exactly_one_is_told_that_it_stored() {
    let server = Memcached::start();
    let client = settings(server.address()).build().expect("built");
    for round in 0..10 {
        let winners = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for t in 0..32 {
                let (client, winners) = (&client, &winners);
                scope.spawn(move || {
                    let stored = client.add(format!("k{round}"), &t, Ttl::NEVER).expect("asked");
                    winners.fetch_add(usize::from(stored), Ordering::SeqCst);
                });
            }
        });
        assert_eq!(winners.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn f114_every_malformed_value_line_is_a_protocol_error_and_costs_its_connection() {
    let server = TestServer::start().expect("a server");
    server.put("k", "v", 0);
    let client = settings(server.address()).build().expect("built");
    for reply in [
        &b"VALUE\r\n"[..],
        b"VALUE k\r\n",
        b"VALUE k 0\r\n",
        b"VALUE k x 1\r\n",
        b"VALUE k 0 x\r\n",
        b"VALUE k 0 1 2 3 4\r\nA\r\nEND\r\n",
        b"value k 0 1\r\nA\r\nEND\r\n",
        b"\r\n",
        b"\xff\xfe\r\n",
    ] {
        let shown = String::from_utf8_lossy(reply);
        // Twice, since a read is sent a second time on a fresh connection.
        server.fault(Fault::Reply(reply.to_vec()), When::next(2));
        let error = client.get::<String>("k").expect_err(&shown);
        assert_eq!(error.kind(), ErrorKind::Protocol, "{shown:?}: {error}");
        assert_eq!(client.status().servers[0].connections, 0, "{shown:?}");
        assert_eq!(client.get::<String>("k").expect("read").as_deref(), Some("v"));
    }
}
