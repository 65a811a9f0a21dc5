//! No call goes without its reply: there is no quiet mode, and pipelined calls read every answer, errors too.

use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ErrorKind, Ttl};

use crate::stand::Stand;
use crate::support::clients::patient;

/// Nothing but the test's calls talks to the server, over one connection.
fn client(server: &TestServer) -> Client {
    let builder = patient(server.address()).max_connections(1);
    builder.maintenance_interval(Duration::ZERO).build().unwrap()
}

#[test]
fn f167_refusals_among_pipelined_calls_shift_no_later_reply() {
    let stand = Stand::real();
    let client = stand.builder().max_connections(1).build().unwrap();
    client.set("x", "X", Ttl::NEVER).unwrap();
    client.set("text", "abc", Ttl::NEVER).unwrap();
    let large = "v".repeat(2_000_000);
    for round in 0..20 {
        let stored = client.set_many([("a", "A"), ("b", large.as_str()), ("c", "C")], Ttl::NEVER);
        assert!(stored.outcome("a").unwrap().is_ok() && stored.outcome("c").unwrap().is_ok());
        let refused = stored.outcome("b").unwrap().as_ref().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ValueTooLarge);
        let deleted = client.delete_many(["missing", "a"]);
        assert!(matches!(deleted.outcome("missing"), Some(Ok(false))));
        assert!(matches!(deleted.outcome("a"), Some(Ok(true))));
        assert!(!client.add("x", "Y", Ttl::NEVER).unwrap());
        assert_eq!(client.incr("text", 1).unwrap_err().kind(), ErrorKind::NotANumber);
        assert_eq!(client.get::<String>("x").unwrap().as_deref(), Some("X"), "round {round}");
    }
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f168_a_bad_key_among_pipelined_calls_is_refused_here_and_leaves_no_reply_behind() {
    let server = TestServer::start().unwrap();
    let client = client(&server).with_prefix("p".repeat(10)).unwrap();
    client.set("x", "X", Ttl::NEVER).unwrap();
    let (long, overflow) = ("k".repeat(251), "k".repeat(241));
    let bad = [long.as_str(), "a b", overflow.as_str(), ""];
    let keys = ["good", bad[0], bad[1], bad[2], bad[3], "fine"];
    let stored = client.set_many(keys.map(|key| (key, "flush_all")), Ttl::NEVER);
    for key in bad {
        let error = stored.outcome(key).unwrap().as_ref().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
    }
    assert!(stored.outcome("good").unwrap().is_ok() && stored.outcome("fine").unwrap().is_ok());
    assert_eq!(client.delete_many(keys).failures().count(), bad.len());
    assert_eq!(client.get::<String>("x").unwrap().as_deref(), Some("X"));
    assert_eq!(server.commands().len(), 6, "{:?}", server.commands());
}

#[test]
fn f169_f171_every_store_is_answered_before_the_next_call() {
    let server = TestServer::start().unwrap();
    let client = client(&server);
    let entries: Vec<_> = (0..1000).map(|i| (format!("k{i}"), i)).collect();
    assert_eq!(client.set_many(entries.clone(), Ttl::NEVER).failures().count(), 0);
    assert_eq!(client.get::<i32>("k999").unwrap(), Some(999));
    for (key, i) in &entries[..100] {
        client.set(key, i, Ttl::NEVER).unwrap();
        assert!(client.touch(key, Ttl::NEVER).unwrap());
        assert_eq!(client.get::<i32>(key).unwrap(), Some(*i));
    }
    let quiet = |line: &String| line.ends_with("noreply") || line.ends_with(" q");
    assert!(!server.commands().iter().any(quiet));
}

#[test]
fn f172_a_server_that_hangs_up_after_each_store_costs_no_later_call() {
    const REPLY: &str = "STORED\r\n";
    let server = TestServer::start().unwrap();
    let client = client(&server);
    server.fault(Fault::CloseAfter(REPLY.len()), When::always().verb("set"));
    for i in 0..50 {
        client.set("x", &i, Ttl::NEVER).unwrap();
        assert_eq!(client.get::<i32>("x").unwrap(), Some(i));
    }
    let status = &client.status().servers[0];
    assert_eq!((status.connections, status.dials), (1, 51));
}
