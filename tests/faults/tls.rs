//! TLS is not built: a TLS server met in plain ends in bounded time, and odd host names are taken as they are.

use mcpool::{ErrorKind, Server};

use crate::support::clients::passive;
use crate::support::script::Script;
use crate::support::watch::{SLACK, timed};

#[test]
fn f205_a_tls_server_met_in_plain_ends_the_call_with_a_hint() {
    // What TLS servers answer to plain text: an alert (unexpected message, or bad version), or nothing.
    for alert in [&b"\x15\x03\x01\x00\x02\x02\x0a"[..], b"\x15\x03\x03\x00\x02\x02\x46", b""] {
        let server = Script::start(move |peer| {
            if peer.line().is_some() {
                peer.send(alert);
            }
        });
        let client = passive(server.address()).build().unwrap();
        let (outcome, took) = timed(|| client.get::<String>("k"));
        let error = outcome.unwrap_err();
        assert!(took < client.timeout() - SLACK, "{took:?}: {error}");
        assert_eq!(error.server(), Some(server.address().as_str()));
        if alert.is_empty() {
            assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
        } else {
            assert!(error.to_string().contains("TLS"), "{error}");
        }
        assert_eq!(client.status().servers[0].connections, 0, "nothing of it is kept");
    }
}

#[test]
fn f212_host_names_that_begin_with_a_digit_are_host_names() {
    for (address, name) in [
        ("0001.mc.test", "0001.mc.test:11211"),
        ("1.2.mc.test:11212", "1.2.mc.test:11212"),
        ("127.0.0.1", "127.0.0.1:11211"),
        ("[::1]", "[::1]:11211"),
        ("memcache://0001.mc.test:11213", "0001.mc.test:11213"),
    ] {
        assert_eq!(Server::new(address).unwrap().name(), name);
    }
}
