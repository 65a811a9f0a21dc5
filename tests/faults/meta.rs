//! The meta dialect is not spoken; what its faults stand for is asked of the classic one.

use std::time::{Duration, SystemTime};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{CasOutcome, Client, Error, ErrorKind, Ttl};

use crate::stand::Stand;
use crate::support::clients::patient;
use crate::support::watch::HANG;

/// Nothing but the test's calls talks to the server, over one connection.
fn client(server: &TestServer, timeout: Duration) -> Client {
    let builder = patient(server.address()).max_connections(1).timeout(timeout);
    builder.maintenance_interval(Duration::ZERO).build().unwrap()
}

#[test]
fn f242_an_error_line_is_told_in_the_servers_words_whatever_was_asked() {
    let server = TestServer::start().unwrap();
    let client = client(&server, HANG);
    client.set("x", "X", Ttl::NEVER).unwrap();
    type Call = fn(&Client) -> Option<Error>;
    let calls: [(&str, Call); 7] = [
        ("get", |c| c.get::<String>("k").err()),
        ("get", |c| c.get_many::<String, _>(["k", "l"]).into_result().err()),
        ("set", |c| c.set("k", "v", Ttl::NEVER).err()),
        ("add", |c| c.add("k", "v", Ttl::NEVER).err()),
        ("delete", |c| c.delete("k").err()),
        ("touch", |c| c.touch("k", Ttl::NEVER).err()),
        ("version", |c| c.version().into_result().err()),
    ];
    for text in ["SERVER_ERROR upstream error", "CLIENT_ERROR bad", "ERROR"] {
        for (verb, call) in calls {
            server.fault(Fault::Reply(format!("{text}\r\n").into()), When::next(1).verb(verb));
            let error = call(&client).unwrap_or_else(|| panic!("{verb} took {text} for a reply"));
            assert_eq!(error.kind(), ErrorKind::Refused, "{verb}: {error}");
            assert!(error.to_string().contains(text), "{verb}: {error}");
            assert_eq!(client.get::<String>("x").unwrap().as_deref(), Some("X"));
        }
    }
}

#[test]
fn f245_f246_replies_of_another_draft_are_never_a_success() {
    let server = TestServer::start().unwrap();
    let client = client(&server, HANG);
    server.put("x", "X", 0);
    for reply in [
        "OK",
        "HD",
        "HD O1",
        "STORED x",
        "EN",
        "NS",
        "stored",
        "CLIENT_ERROR bad data chunk\r\nERROR",
    ] {
        server.fault(Fault::Reply(format!("{reply}\r\n").into()), When::next(2).verb("set"));
        let error = client.set("k", "v", Ttl::NEVER).unwrap_err();
        let kind = if reply.contains("ERROR") { ErrorKind::Refused } else { ErrorKind::Protocol };
        assert_eq!(error.kind(), kind, "{reply}: {error}");
        server.clear_faults();
        assert_eq!(client.get::<String>("x").unwrap().as_deref(), Some("X"), "after {reply}");
    }
}

#[test]
fn f248_hits_out_of_order_or_without_an_end_are_never_given_to_another_key() {
    let server = TestServer::start().unwrap();
    let client = client(&server, HANG);
    let hasty = client.with_timeout(Duration::from_secs(1)).unwrap();
    server.put("x", "X", 0);
    let hits = [("e", "E"), ("b", "B")].map(|(k, v)| format!("VALUE {k} 0 1\r\n{v}\r\n")).concat();
    for end in ["END\r\n", ""] {
        server.fault(Fault::Reply(format!("{hits}{end}").into()), When::next(2).verb("get"));
        let found = hasty.get_many::<String, _>(["a", "b", "c", "d", "e"]);
        for key in ["a", "b", "c", "d", "e"] {
            match found.outcome(key).unwrap() {
                Ok(Some(value)) => assert_eq!(*value, key.to_uppercase()),
                Ok(None) => assert!(["a", "c", "d"].contains(&key) && !end.is_empty(), "{key}"),
                Err(e) => assert!(matches!(e.kind(), ErrorKind::Protocol | ErrorKind::Timeout)),
            }
        }
        server.clear_faults();
        assert_eq!(client.get::<String>("x").unwrap().as_deref(), Some("X"));
    }
}

#[test]
fn f249_the_largest_numbers_that_calls_take_are_in_the_servers_range() {
    let stand = Stand::real();
    let client = stand.client();
    let last = SystemTime::UNIX_EPOCH + Duration::from_secs(i32::MAX.unsigned_abs().into());
    client.set_raw("k", "v", u32::MAX, Ttl::from(last)).unwrap();
    assert_eq!(client.get_raw("k").unwrap().unwrap().flags, u32::MAX);
    for ttl in [Ttl::IMMEDIATE, Ttl::from(SystemTime::UNIX_EPOCH), Ttl::from(Duration::ZERO)] {
        client.set("k", "v", ttl).unwrap();
        assert_eq!(client.get::<String>("k").unwrap(), None);
    }
    let server = TestServer::start().unwrap();
    let client = self::client(&server, HANG);
    let reply = format!("VALUE k 0 1 {}\r\nv\r\nEND\r\n", u64::MAX);
    server.fault(Fault::Reply(reply.into()), When::next(1).verb("gets"));
    let token = client.gets::<String>("k").unwrap().unwrap().cas;
    assert_eq!(client.cas("k", "v", last, &token).unwrap(), CasOutcome::Missing);
    let line = format!("cas k 0 {} 1 {}", i32::MAX, u64::MAX);
    assert_eq!(server.commands().last(), Some(&line));
}
