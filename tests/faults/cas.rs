//! Faults of compare-and-set: tokens cut, rounded or ignored.

use mcpool::testing::TestServer;
use mcpool::{CasOutcome, Client, Ttl};

use crate::support::clients::passive;
use crate::support::memcached::Memcached;
use crate::support::script::Script;

fn client(address: String) -> Client {
    passive(address).build().expect("a client")
}

#[test]
fn f139_f140_every_token_goes_back_as_it_came() {
    for token in [
        0_u64,
        4_294_967_297,
        9_007_199_254_740_993,
        9_941_891_035_036_819,
        9_223_372_036_854_775_808,
        u64::MAX,
    ] {
        let server = Script::start(move |peer| {
            assert_eq!(peer.line().as_deref(), Some("gets k"));
            peer.send(format!("VALUE k 0 1 {token}\r\nA\r\nEND\r\n"));
            assert_eq!(peer.line(), Some(format!("cas k 0 0 1 {token}")));
            assert_eq!(peer.line().as_deref(), Some("B"));
            peer.send("STORED\r\n");
            peer.until_closed();
        });
        let client = client(server.address());
        let item = client.gets::<String>("k").expect("answered").expect("a value");
        let outcome = client.cas("k", "B", Ttl::NEVER, &item.cas).expect("answered");
        assert_eq!(outcome, CasOutcome::Stored, "{token}");
    }
}

#[test]
fn f139_a_token_beyond_64_bits_is_refused_and_not_cut() {
    let server = Script::start(|peer| {
        while peer.line().is_some() {
            peer.send("VALUE k 0 1 18446744073709551616\r\nA\r\nEND\r\n");
        }
    });
    let error = client(server.address()).gets::<String>("k").expect_err("no such token");
    assert_eq!(error.kind(), mcpool::ErrorKind::Protocol, "{error}");
}

#[test]
fn f141_a_missing_key_has_no_token_and_missing_is_not_changed() {
    let servers = (TestServer::start().expect("a server"), Memcached::start());
    for address in [servers.0.address(), servers.1.address()] {
        let client = client(address);
        assert_eq!(client.gets::<String>("k").expect("answered"), None);
        client.set("k", "A", Ttl::NEVER).expect("stored");
        let token = client.gets::<String>("k").expect("answered").expect("a value").cas;
        let cas = || client.cas("k", "C", Ttl::NEVER, &token).expect("answered");
        client.set("k", "B", Ttl::NEVER).expect("stored");
        assert_eq!(cas(), CasOutcome::Changed);
        assert!(client.delete("k").expect("answered"));
        assert_eq!(cas(), CasOutcome::Missing);
        assert_eq!(client.get::<String>("k").expect("answered"), None);
    }
}

#[test]
fn f142_an_old_token_never_overwrites_what_another_client_stored() {
    let server = Memcached::start();
    let (ours, other) = (client(server.address()), client(server.address()));
    ours.set("k", "A", Ttl::NEVER).expect("stored");
    let item = ours.gets::<String>("k").expect("answered").expect("a value");
    other.set("k", "theirs", Ttl::NEVER).expect("stored");
    let outcome = ours.cas("k", "ours", Ttl::NEVER, &item.cas).expect("answered");
    assert_eq!(outcome, CasOutcome::Changed);
    assert_eq!(ours.get::<String>("k").expect("answered").as_deref(), Some("theirs"));
    // Its present token does, once.
    let token = ours.gets::<String>("k").expect("answered").expect("a value").cas;
    let cas = || ours.cas("k", "ours", Ttl::NEVER, &token).expect("answered");
    assert_eq!((cas(), cas()), (CasOutcome::Stored, CasOutcome::Changed));
}
