//! What is sent a second time and what never is, and what a call says of a write whose reply it did not get.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use mcpool::testing::{Event, Fault, TestServer, When};
use mcpool::{CasOutcome, CasToken, Client, ErrorKind, Failover, Ttl};

use crate::support::calls::SINGLE;
use crate::support::clients::{key_on, status, steady};
use crate::support::watch::{HANG, until};

fn client(server: &TestServer) -> Client {
    steady(server.address()).build().expect("settings")
}

/// A server that holds "1" under "k", a client of it, and the value's token.
fn stocked() -> (TestServer, Client, CasToken) {
    let server = TestServer::start().expect("a port");
    let client = client(&server);
    server.put("k", "1", 0);
    let token = client.gets::<String>("k").expect("read").expect("there").cas;
    server.clear_events();
    (server, client, token)
}

/// The command's first word as the server sees it.
fn word(call: &str) -> &str {
    match call {
        "get_and_touch" => "gat",
        "gets" | "set" | "touch" | "add" | "replace" | "append" | "prepend" | "cas" | "incr"
        | "decr" | "delete" => call,
        "set_raw" | "set_counter" => "set",
        "incr_or_init" => "incr",
        "decr_or_init" => "decr",
        _ => "get",
    }
}

fn times(server: &TestServer, word: &str) -> usize {
    server.commands().iter().filter(|line| line.split(' ').next() == Some(word)).count()
}

#[test]
fn a_call_whose_connection_dies_under_it_is_repeated_once_or_says_that_it_may_have_been_applied() {
    let (server, client, token) = stocked();
    for call in SINGLE {
        let token = if call.name == "cas" {
            client.set_counter("k", 1, Ttl::NEVER).expect("stored");
            &client.gets::<u64>("k").expect("read").expect("there").cas
        } else {
            &token
        };
        server.clear_events();
        server.fault(Fault::CloseAfter(0), When::next(1));
        let result = (call.run)(&client, "k", token);
        let sent = times(&server, word(call.name));
        if call.repeatable {
            assert!(
                !matches!(&result, Err(e) if e.kind() == ErrorKind::ConnectionLost),
                "{}: {result:?}",
                call.name
            );
            assert_eq!(sent, 2, "{}", call.name);
        } else {
            let error = result.expect_err(call.name);
            assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
            assert!(error.may_have_been_applied(), "{}: {error}", call.name);
            assert_eq!(sent, 1, "{}", call.name);
        }
    }
}

#[test]
fn a_read_whose_connections_die_again_and_again_is_given_up_and_never_said_to_be_applied() {
    let (server, client, _) = stocked();
    server.fault(Fault::CloseAfter(0), When::always().verb("get"));
    let error = client.get::<u64>("k").expect_err("it always ends");
    assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
    assert!(!error.may_have_been_applied(), "{error}");
    assert_eq!(times(&server, "get"), 2);
    assert_eq!(status(&client, &server.address()).retries, 1);
}

#[test]
fn a_write_whose_first_copy_may_have_been_applied_says_so_whatever_became_of_the_second() {
    // What the second connection says to the second copy; without an answer nobody listens any more.
    let answers = [
        Some("SERVER_ERROR out of memory storing object\r\n"),
        Some("ERROR\r\n"),
        Some("ERROR Too many open connections\r\n"),
        None,
    ];
    for (answer, name) in answers.into_iter().flat_map(|a| [(a, "set"), (a, "touch")]) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let server = thread::spawn(move || {
            let command = |stream: &std::net::TcpStream| {
                let mut lines = BufReader::new(stream).lines();
                let line = lines.next().expect("a request").expect("text");
                if line.starts_with("set") {
                    lines.next().expect("a value").expect("text");
                }
            };
            let (first, _) = listener.accept().expect("a connection");
            let Some(answer) = answer else {
                command(&first);
                drop(listener);
                return;
            };
            command(&first);
            drop(first);
            let (mut second, _) = listener.accept().expect("another connection");
            command(&second);
            second.write_all(answer.as_bytes()).expect("sent");
        });
        let settings = steady(&*address).min_connections(0).connect_timeout(HANG);
        let client = settings.build().expect("settings");
        let error = match name {
            "set" => client.set("k", "v", Ttl::NEVER).expect_err("it failed"),
            _ => client.touch("k", Ttl::NEVER).map(drop).expect_err("it failed"),
        };
        assert!(error.may_have_been_applied(), "{name}, then {answer:?}: {error}");
        server.join().expect("no panic");
    }
}

#[test]
fn a_time_out_of_a_write_says_that_it_may_have_been_applied_and_is_never_repeated() {
    let (server, client, token) = stocked();
    let hurried = client.with_timeout(Duration::from_millis(300)).expect("a time");
    for call in SINGLE.iter().filter(|call| !call.repeatable) {
        // Leaves a connection open, so that all of the time is the request's.
        client.get::<u64>("k").expect("read");
        server.clear_events();
        server.fault(Fault::Hang, When::next(1));
        let error = (call.run)(&hurried, "k", &token).expect_err(call.name);
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(error.may_have_been_applied(), "{}: {error}", call.name);
        assert!(times(&server, word(call.name)) <= 1, "{}", call.name);
        server.clear_faults();
    }
}

#[test]
fn a_socket_that_closed_while_idle_is_noticed_before_anything_is_sent_so_that_no_write_is_lost() {
    let (server, _, token) = stocked();
    let client = steady(server.address()).share(false).build().expect("settings");
    let calls: Vec<_> =
        SINGLE.iter().filter(|call| !matches!(call.name, "cas" | "delete")).collect();
    let idle = |n| status(&client, &server.address()).idle == n;
    thread::scope(|scope| {
        // As many connections as calls: each holds one while all the others are late.
        server.fault(Fault::Late(HANG), When::always());
        for _ in &calls {
            scope.spawn(|| client.get::<u64>("k").expect("only late"));
        }
        until("each has a connection", || times(&server, "get") == calls.len());
        server.clear_faults();
    });
    assert!(idle(calls.len()), "there is one for each call");
    server.close_connections();
    // What is idle for a second is looked at before it is used; waiting is the only way to be idle.
    thread::sleep(Duration::from_millis(1_010));
    server.clear_events();
    for call in calls {
        (call.run)(&client, "k", &token).unwrap_or_else(|e| panic!("{}: {e}", call.name));
    }
    let retries = status(&client, &server.address()).retries;
    assert_eq!(retries, 0, "nothing was sent on a closed socket");
}

#[test]
fn what_was_not_sent_to_its_last_byte_is_sent_again_whatever_it_is() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let server = thread::spawn(move || {
        // The first connection ends in the middle of the request, more of which is sent than any buffer holds.
        let (mut first, _) = listener.accept().expect("a client");
        first.read_exact(&mut [0; 1 << 16]).expect("the start of it");
        drop(first);
        let (second, _) = listener.accept().expect("the client again");
        let mut reader = BufReader::new(second);
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let len: usize = line.trim().rsplit(' ').next().expect("a word").parse().expect("a length");
        std::io::copy(&mut reader.by_ref().take(len as u64 + 2), &mut std::io::sink())
            .expect("the value");
        reader.get_mut().write_all(b"STORED\r\n").expect("the client waits");
        line
    });
    let client = steady(&*address).maintenance_interval(Duration::ZERO).build().expect("settings");
    assert!(client.append("k", vec![b'x'; 32 << 20]).expect("sent again"));
    assert_eq!(server.join().expect("served"), "append k 0 0 33554432\r\n");
}

#[test]
fn a_counter_whose_server_refuses_goes_on_since_nothing_was_sent() {
    let [first, second] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = steady([first.address(), second.address()])
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    let key = key_on(&client, &first.address(), "n");
    second.put(&key, "41", 0);
    first.stop();
    assert_eq!(client.incr(&key, 1).expect("counted elsewhere"), Some(42));
}

#[test]
fn a_token_is_only_ever_shown_to_the_server_that_gave_it() {
    let [first, second] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = steady([first.address(), second.address()]).build().expect("settings");
    let key = key_on(&client, &first.address(), "k");
    client.set(&key, "old", Ttl::NEVER).expect("stored");
    let token = client.gets::<String>(&key).expect("read").expect("there").cas;
    first.stop();
    client.get::<String>(&key).expect("the connection's end is noticed, and another server asked");
    let error = client.cas(&key, "new", Ttl::NEVER, &token).expect_err("its server is away");
    assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
    assert_eq!(error.server(), Some(&*first.address()), "{error}");
    assert!(!error.may_have_been_applied(), "{error}");
    assert_eq!(times(&second, "cas"), 0);
    first.listen().expect("the same port");
    let outcome = client.cas(&key, "new", Ttl::NEVER, &token).expect("its server is back");
    assert_eq!(outcome, CasOutcome::Stored);
}

#[test]
fn a_delete_that_reached_a_substitute_is_no_success() {
    let [first, second] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = steady([first.address(), second.address()]).build().expect("settings");
    let key = key_on(&client, &first.address(), "k");
    client.set(&key, "old", Ttl::NEVER).expect("stored");
    first.stop();
    client.get::<String>(&key).expect("the connection's end is noticed, and another server asked");
    let error = client.delete(&key).expect_err("the key's own server still has it");
    assert_eq!(error.kind(), ErrorKind::Substituted, "{error}");
    assert_eq!(error.server(), Some(&*first.address()), "{error}");
    let outcome = client.delete_many([&key]);
    let error = outcome.outcome(&key).expect("asked").as_ref().expect_err("the same");
    assert_eq!(error.kind(), ErrorKind::Substituted, "{error}");
    first.listen().expect("the same port");
    assert_eq!(client.get::<String>(&key).expect("read").as_deref(), Some("old"));
    assert!(client.delete(&key).expect("deleted for real"));
}

#[test]
fn without_failover_the_call_fails_and_names_the_server() {
    let [first, second] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = steady([first.address(), second.address()])
        .failover(Failover::Off)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    let key = key_on(&client, &first.address(), "k");
    first.stop();
    for error in [
        client.get::<String>(&key).expect_err("it is away"),
        client.delete(&key).expect_err("it is away"),
        client.set(&key, "v", Ttl::NEVER).expect_err("it is away"),
    ] {
        assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
        assert_eq!(error.server(), Some(&*first.address()), "{error}");
    }
    assert!(!second.events().iter().any(|e| matches!(e, Event::Connected { .. })), "a key moved");
}

#[test]
fn figures_are_not_asked_for_and_answered_by_a_word() {
    let server = TestServer::start().expect("a server");
    let client = steady(server.address()).build().expect("settings");
    for word in ["OK\r\n", "RESET\r\n"] {
        server.fault(Fault::Reply(word.into()), When::always().verb("stats"));
        for argument in [None, Some("items")] {
            let figures = argument.map_or_else(|| client.stats(), |a| client.stats_of(a));
            let (_, outcome) = figures.iter().next().expect("one server");
            let error = outcome.as_ref().expect_err("no figures came");
            assert_eq!(error.kind(), ErrorKind::Protocol, "{argument:?}: {error}");
        }
        let reset = client.stats_of("reset");
        assert!(reset.iter().all(|(_, outcome)| outcome.is_ok()), "{reset:?}");
        server.clear_faults();
    }
}
