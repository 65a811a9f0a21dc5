//! Faults of proxies and hosted services: commands they do not know, answers of their own.

use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{BackOff, DownAfter, ErrorKind, NodeState, Ttl};

use crate::support::clients::passive;
use crate::support::script::{Peer, Script};

/// A proxy that knows four commands and answers `refusal` to all others, or hangs up when that is `None`.
fn proxy(refusal: Option<&'static str>) -> Script {
    Script::start(move |peer: &mut Peer| {
        while let Some(line) = peer.line() {
            let mut words = line.split(' ');
            let reply = match words.next() {
                Some("get") => {
                    words.map(|key| format!("VALUE {key} 0 1\r\n7\r\n")).collect::<String>()
                        + "END\r\n"
                }
                Some("set") => {
                    peer.line();
                    "STORED\r\n".to_owned()
                }
                Some("delete") => {
                    assert_eq!(words.count(), 1, "a key and nothing else: {line}");
                    "DELETED\r\n".to_owned()
                }
                Some("incr") => "8\r\n".to_owned(),
                _ => match refusal {
                    Some(refusal) => refusal.to_owned(),
                    None => return,
                },
            };
            peer.send(reply);
        }
    })
}

#[test]
fn f233_plain_calls_use_only_commands_that_every_proxy_knows() {
    let proxy = proxy(Some("ERROR\r\n"));
    let client = passive(proxy.address()).build().expect("a client");
    client.set("k", &7, Ttl::NEVER).expect("set");
    assert_eq!(client.get::<u32>("k").expect("get"), Some(7));
    assert_eq!(
        client.get_many::<u32, _>(["a", "b"]).into_result().expect("get"),
        [("a", Some(7)), ("b", Some(7))]
    );
    assert!(client.delete("k").expect("delete"));
    assert_eq!(client.incr("k", 1).expect("incr"), Some(8));
    assert_eq!(client.counter("k").expect("get"), Some(7));
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f234_a_refused_gat_is_the_servers_refusal_and_the_connection_goes_on() {
    let proxy = proxy(Some("CLIENT_ERROR malformed request\r\n"));
    let client = passive(proxy.address()).build().expect("a client");
    let error = client.get_and_touch::<u32>("k", Ttl::NEVER).expect_err("it is not known");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("malformed request"), "{error}");
    assert_eq!(client.get::<u32>("k").expect("get"), Some(7));
    assert_eq!(client.status().servers[0].dials, 1);
}

#[test]
fn f235_a_proxy_that_hangs_up_on_version_is_alive_to_checks_and_probes() {
    let proxy = proxy(None);
    let client = passive(proxy.address())
        .alive_check(true)
        .down_after(DownAfter::new(1, Duration::from_secs(10)))
        .back_off(BackOff::new(Duration::from_millis(20), Duration::from_millis(20)))
        .build()
        .expect("a client");
    for _ in 0..1000 {
        assert_eq!(client.get::<u32>("k").expect("get"), Some(7));
    }
    // Waiting is the only way to be idle for the alive check.
    std::thread::sleep(Duration::from_millis(1010));
    assert_eq!(client.get::<u32>("k").expect("get"), Some(7));
    let server = &client.status().servers[0];
    assert_eq!((server.dials, server.state), (1, NodeState::Up), "{server:?}");
}

#[test]
fn f236_delete_sends_a_key_and_no_time() {
    let server = TestServer::start().expect("a server");
    let client = passive(server.address()).build().expect("a client");
    client.delete("k").expect("asked");
    client.delete_many(["a", "b"]).into_result().expect("asked");
    assert_eq!(server.commands(), ["delete k", "delete a", "delete b"]);
}

#[test]
fn f238_a_server_that_knows_no_command_of_ours_says_so_in_each_error_and_is_not_marked_dead() {
    let server = Script::start(|peer: &mut Peer| {
        while peer.line().is_some() {
            peer.send("ERROR\r\n");
        }
    });
    let client = passive(server.address()).build().expect("a client");
    for _ in 0..10 {
        let error = client.get::<u32>("k").expect_err("it is not known");
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("`ERROR`"), "{error}");
    }
    assert_eq!(client.status().servers[0].state, NodeState::Up);
}

#[test]
fn f239_a_backend_failure_behind_a_proxy_is_an_error_and_no_miss_and_the_connection_goes_on() {
    let server = TestServer::start().expect("a server");
    let client = passive(server.address()).build().expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    server.fault(
        Fault::Reply(b"SERVER_ERROR backend failure\r\n".to_vec()),
        When::next(1).verb("get"),
    );
    let error = client.get::<String>("k").expect_err("no miss");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("backend failure"), "{error}");
    assert_eq!(client.get::<String>("k").expect("read").as_deref(), Some("v"));
    assert_eq!(client.status().servers[0].dials, 1);
}
