//! Never a wrong answer: what a server sends too late, too much, too little or mixed up reaches no other call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Error, ErrorKind, Ttl};

use crate::support::clients::steady;
use crate::support::watch::HANG;

/// A server with a value for each of some keys, and a client with one connection to it.
fn stocked() -> (TestServer, Client) {
    let server = TestServer::start().expect("a port");
    for key in ["a", "b", "c"] {
        server.put(key, format!("value of {key}"), 0);
    }
    server.put("n", "41", 0);
    let client = steady(server.address()).max_connections(1).build().expect("settings");
    (server, client)
}

fn get(client: &Client, key: &str) -> Result<Option<String>, Error> {
    client.get(key)
}

/// Whatever happened before, the next calls get what is theirs.
fn next_calls_are_right(client: &Client) {
    for key in ["b", "c", "b"] {
        assert_eq!(get(client, key).expect("read"), Some(format!("value of {key}")));
    }
    assert_eq!(get(client, "nobody").expect("read"), None);
    client.set("d", "value of d", Ttl::NEVER).expect("stored");
    let found = client.get_many::<String, _>(["a", "nobody", "d"]).into_result().expect("read");
    let values: Vec<_> = found.into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, [Some("value of a".to_owned()), None, Some("value of d".to_owned())]);
}

#[test]
fn a_value_under_another_key_is_never_returned() {
    let (server, client) = stocked();
    server.fault(Fault::WrongKey("b".into()), When::always());
    let error = get(&client, "a").expect_err("the server answers for another key");
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    let found = client.get_many::<String, _>(["a", "c"]);
    assert_eq!(found.iter().count(), 0, "{found:?}");
    assert_eq!(found.failures().count(), 2, "{found:?}");
    client.gets::<String>("a").expect_err("the same");
    server.clear_faults();
    next_calls_are_right(&client);
}

#[test]
fn a_reply_that_comes_after_the_time_out_reaches_nobody() {
    let (server, client) = stocked();
    let hurried = client.with_timeout(Duration::from_millis(300)).expect("a time");
    let late = || server.fault(Fault::Late(HANG), When::next(1));
    // What is late comes when the faults are cleared: after the call has ended.
    let now = || server.clear_faults();
    for _ in 0..2 {
        late();
        let error = get(&hurried, "a").expect_err("too late");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        now();
        next_calls_are_right(&client);
        late();
        hurried.incr("n", 1).expect_err("too late");
        now();
        next_calls_are_right(&client);
        late();
        assert_eq!(hurried.get_many::<String, _>(["a", "c"]).failures().count(), 2);
        now();
        next_calls_are_right(&client);
    }
}

#[test]
fn nonsense_is_an_error_of_the_call_that_met_it_alone() {
    let (server, client) = stocked();
    let nonsense: [&[u8]; 9] = [
        b"nonsense\r\n",
        b"\r\n",
        b"STORED\r\n",
        b"VALUE a 0 3\r\nabc",
        b"VALUE a 0 -1\r\nEND\r\n",
        b"VALUE a 0 3\r\nabcd\r\nEND\r\n",
        b"VALUE a 0 99999999999999999999\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        &[0xff; 64],
    ];
    let hurried = client.with_timeout(Duration::from_millis(400)).expect("a time");
    for bytes in nonsense {
        server.fault(Fault::Reply(bytes.into()), When::always());
        let error = get(&hurried, "a").expect_err("not a reply to a get");
        assert!(matches!(error.kind(), ErrorKind::Protocol | ErrorKind::Timeout), "{error}");
        let many = hurried.get_many::<String, _>(["a", "c"]);
        assert_eq!(many.iter().count(), 0, "{many:?}");
        let error = hurried.incr("n", 1).expect_err("not a reply to an incr");
        assert!(matches!(error.kind(), ErrorKind::Protocol | ErrorKind::Timeout), "{error}");
        assert!(error.may_have_been_applied(), "{error}");
        server.clear_faults();
        next_calls_are_right(&client);
    }
}

#[test]
fn bytes_behind_a_reply_are_not_the_next_calls() {
    let (server, client) = stocked();
    let surplus: [&[u8]; 4] = [b"VALUE b 0 5\r\nwrong\r\nEND\r\n", b"STORED\r\n", b"99\r\n", b"E"];
    for bytes in surplus {
        for key in ["a", "nobody"] {
            server.fault(Fault::Surplus(bytes.into()), When::next(1));
            _ = get(&client, key);
            next_calls_are_right(&client);
        }
        server.fault(Fault::Surplus(bytes.into()), When::next(1));
        _ = client.set("a", "value of a", Ttl::NEVER);
        next_calls_are_right(&client);
        server.fault(Fault::Surplus(bytes.into()), When::next(1));
        _ = client.incr("n", 1);
        next_calls_are_right(&client);
    }
}

#[test]
fn the_body_of_a_refused_store_may_run_as_a_command_and_its_reply_is_nobodys() {
    let (server, client) = stocked();
    let refusals = [
        "ERROR\r\nERROR\r\n",
        "CLIENT_ERROR bad command line format\r\nSTORED\r\n",
        "CLIENT_ERROR line too long\r\nVALUE b 0 5\r\nwrong\r\nEND\r\n",
        "SERVER_ERROR out of memory storing object\r\nERROR\r\n",
    ];
    for refusal in refusals {
        server.fault(Fault::Reply(refusal.into()), When::always().verb("set"));
        let error = client.set("a", "value of a", Ttl::NEVER).expect_err("refused");
        assert!(matches!(error.kind(), ErrorKind::Refused | ErrorKind::Protocol), "{error}");
        let outcomes = client.set_many([("a", "1"), ("b", "2"), ("c", "3")], Ttl::NEVER);
        assert_eq!(outcomes.failures().count(), 3, "{outcomes:?}");
        server.clear_faults();
        next_calls_are_right(&client);
    }
}

#[test]
fn a_reply_cut_at_any_byte_is_read_again_or_in_doubt_and_never_half_believed() {
    let (server, client) = stocked();
    let whole = "VALUE a 0 10\r\nvalue of a\r\nEND\r\n".len();
    for cut in 0..=whole {
        server.fault(Fault::CloseAfter(cut), When::next(1));
        assert_eq!(
            get(&client, "a").expect("read again").as_deref(),
            Some("value of a"),
            "at {cut}"
        );
        next_calls_are_right(&client);
        server.fault(Fault::CloseAfter(cut), When::next(1));
        let found = client.get_many::<String, _>(["a", "b"]).into_result().expect("read again");
        let values: Vec<_> = found.into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            values,
            [Some("value of a".to_owned()), Some("value of b".to_owned())],
            "at {cut}"
        );
        next_calls_are_right(&client);
    }
    for cut in 0..="1000\r\n".len() {
        server.put("n", "999", 0);
        server.fault(Fault::CloseAfter(cut), When::next(1));
        match client.incr("n", 1) {
            Ok(n) => assert_eq!((n, cut), (Some(1000), "1000\r\n".len())),
            Err(e) => assert!(e.may_have_been_applied() && cut < "1000\r\n".len(), "at {cut}: {e}"),
        }
        next_calls_are_right(&client);
    }
    next_calls_are_right(&client);
}

#[test]
fn a_reply_that_comes_byte_by_byte_is_put_together() {
    let (server, client) = stocked();
    server.fault(Fault::Dribble { bytes: 1, pause: Duration::from_micros(100) }, When::always());
    next_calls_are_right(&client);
    assert_eq!(client.incr("n", 1).expect("counted"), Some(42));
}

#[test]
fn among_many_threads_and_faults_of_every_kind_no_value_changes_its_key() {
    const THREADS: usize = 8;
    const CALLS: usize = 300;
    let server = TestServer::start().expect("a port");
    let keys: Vec<_> = (0..20).map(|i| format!("key{i}")).collect();
    for key in &keys {
        server.put(key, format!("value of {key}"), 0);
    }
    let client = steady(server.address()).max_connections(3).build().expect("settings");
    let hurried = client.with_timeout(Duration::from_millis(5)).expect("a time");
    let hits = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (server, keys, client, hurried, hits) = (&server, &keys, &client, &hurried, &hits);
            scope.spawn(move || {
                for call in 0..CALLS {
                    let key = &keys[(thread * 7 + call) % keys.len()];
                    let fault = match call % 12 {
                        0 => Fault::WrongKey("other".into()),
                        2 => Fault::Surplus(b"VALUE other 0 5\r\nwrong\r\nEND\r\n".into()),
                        4 => Fault::CloseAfter(call % 40),
                        6 => Fault::Late(Duration::from_millis(10)),
                        8 => Fault::Reply(b"VALUE other 0 5\r\nwrong\r\nEND\r\n".into()),
                        _ => Fault::Dribble { bytes: 7, pause: Duration::ZERO },
                    };
                    server.fault(fault, When::next(1));
                    let client = if call % 3 == 0 { hurried } else { client };
                    if call % 5 == 0 {
                        let found = client.get_many::<String, _>(keys.iter().take(5));
                        for (key, value) in found.iter() {
                            assert_eq!(*value, format!("value of {key}"));
                        }
                    } else if let Ok(value) = client.get::<String>(key) {
                        hits.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(value, Some(format!("value of {key}")));
                    }
                }
            });
        }
    });
    assert!(hits.load(Ordering::Relaxed) > THREADS * CALLS / 4, "most calls work all the same");
}
