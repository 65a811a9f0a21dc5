//! What errors say: the call, the server, the key, the step, the time, and what to do now.

use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Error, Failover, Phase, Ttl};

use crate::support::clients::{hasty, key_on, steady};
use crate::support::memcached::Memcached;
use crate::support::watch::HANG;

/// The text with the server's address and the time taken masked.
fn masked(error: &Error, address: &str) -> String {
    let time = format!("{:.1?}", error.elapsed().expect("every call's error has its time"));
    error.to_string().replace(address, "SERVER").replace(&time, "TIME")
}

fn client(server: &TestServer) -> Client {
    steady(server.address())
        .maintenance_interval(Duration::ZERO)
        .timeout(HANG)
        .build()
        .expect("settings")
}

#[test]
fn a_refused_connection_names_server_key_step_and_time() {
    let server = TestServer::start().expect("a port");
    let client = client(&server);
    server.stop();
    let error = client.get::<String>("user:42").expect_err("nobody is there");
    let os = std::io::Error::from_raw_os_error(rustix::io::Errno::CONNREFUSED.raw_os_error());
    assert_eq!(
        masked(&error, &server.address()),
        format!(
            "get \"user:42\" on SERVER failed while connecting after TIME: {os}; \
             it is tried again by itself after a short pause"
        )
    );
    assert_eq!(error.phase(), Some(Phase::Connect));
    assert_eq!(error.key(), Some(&b"user:42"[..]));
    let source = std::error::Error::source(&error).expect("the system's error");
    assert_eq!(source.to_string(), os.to_string());
}

#[test]
fn a_server_that_is_known_to_be_down_is_said_to_be() {
    let server = TestServer::start().expect("a port");
    server.stop();
    let client = hasty(server.address()).build().expect("settings");
    _ = client.get::<String>("k");
    let error = std::iter::repeat_with(|| client.get::<String>("k").expect_err("nobody is there"))
        .find(|error| error.phase().is_none())
        .expect("it is taken out");
    assert_eq!(
        masked(&error, &server.address()),
        "get \"k\" on SERVER failed after TIME: the server is down; \
         it is tried again by itself after a short pause"
    );
}

#[test]
fn a_time_out_of_a_write_says_that_it_may_have_been_applied() {
    let server = Memcached::start();
    let client = steady(server.address()).build().expect("settings");
    client.set_counter("n", 1, Ttl::NEVER).expect("stored");
    server.pause();
    let hurried = client.with_timeout(Duration::from_millis(500)).expect("a time");
    let error = hurried.incr("n", 1).expect_err("nobody answers");
    assert_eq!(
        masked(&error, &server.address()),
        "incr \"n\" on SERVER failed while reading the reply after TIME: the deadline passed; \
         it may have been applied; look at the server's load and network, or raise `timeout`"
    );
    let error = hurried.get::<u64>("n").expect_err("nobody answers");
    assert_eq!(
        masked(&error, &server.address()),
        "get \"n\" on SERVER failed while reading the reply after TIME: the deadline passed; \
         look at the server's load and network, or raise `timeout`"
    );
    let error = hurried.version().into_result().expect_err("nobody answers");
    assert_eq!(
        masked(&error, &server.address()),
        "version on SERVER failed while reading the reply after TIME: the deadline passed; \
         look at the server's load and network, or raise `timeout`"
    );
}

#[test]
fn a_lost_connection_a_broken_protocol_and_a_refusal_are_told_apart() {
    let server = TestServer::start().expect("a port");
    let client = client(&server);
    server.fault(Fault::CloseAfter(0), When::next(1));
    let error = client.append("k", "v").expect_err("the connection ends");
    assert_eq!(
        masked(&error, &server.address()),
        "append \"k\" on SERVER failed while reading the reply after TIME: the server closed the connection; \
         it may have been applied; the connection was closed and the next call opens another"
    );
    server.fault(Fault::Reply("nonsense\r\n".into()), When::always());
    let error = client.get::<String>("k").expect_err("not a reply");
    let text = masked(&error, &server.address());
    assert!(
        text.starts_with("get \"k\" on SERVER failed while reading the reply after TIME: ")
            && text.contains("nonsense"),
        "{text}"
    );
    assert!(
        text.ends_with("check that the address is a memcached's; the connection was closed"),
        "{text}"
    );
    server.clear_faults();
    server.fault(
        Fault::Reply("SERVER_ERROR out of memory storing object\r\n".into()),
        When::always(),
    );
    let error = client.set("k", "v", Ttl::NEVER).expect_err("refused");
    assert_eq!(
        masked(&error, &server.address()),
        "set \"k\" on SERVER failed after TIME: the server answered `SERVER_ERROR out of memory storing object`"
    );
}

#[test]
fn each_key_of_a_batch_has_an_error_that_names_its_server_also_when_time_is_over() {
    let server = Memcached::start();
    let others = TestServer::start().expect("a port");
    let client = steady([server.address(), others.address()])
        .timeout(Duration::from_secs(1))
        .build()
        .expect("settings");
    let key = key_on(&client, &server.address(), "k");
    server.pause();
    others.fault(Fault::Hang, When::always());
    let found = client.get_many::<String, _>([&key]);
    let error = found.outcome(&key).expect("asked").as_ref().expect_err("nobody answers");
    let server = error.server().expect("a server is named");
    assert!([others.address(), server.to_owned()].contains(&server.to_owned()), "{error}");
    assert_eq!(error.phase(), Some(Phase::Read), "{error}");
    assert_eq!(error.key(), Some(key.as_bytes()));
}

#[test]
fn a_delete_on_a_substitute_names_both_servers() {
    let [first, second] =
        [TestServer::start().expect("a port"), TestServer::start().expect("a port")];
    let client = steady([first.address(), second.address()])
        .failover(Failover::NextServer)
        .maintenance_interval(Duration::ZERO)
        .build()
        .expect("settings");
    let key = key_on(&client, &first.address(), "k");
    first.stop();
    let error = client.delete(&key).expect_err("its own server is away");
    assert_eq!(
        masked(&error, &first.address()).replace(&second.address(), "OTHER"),
        format!(
            "delete \"{key}\" on SERVER failed after TIME: the server could not be asked and the delete reached OTHER \
             in its place; it may have been applied; delete again once its own server is back"
        )
    );
}
