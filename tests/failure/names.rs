//! Servers given by name or by path: looked up, tried address by address, refused with a reason.

use std::time::Duration;

use mcpool::testing::TestServer;
use mcpool::{Client, ErrorKind, Phase, Ttl};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

use super::common::{OVERSHOOT, patient, quiet, timed};

#[test]
fn a_server_may_be_given_by_name() {
    let server = TestServer::start().expect("a port");
    let port = server.addr().expect("TCP").port();
    let client = Client::new(format!("localhost:{port}")).expect("settings");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    assert_eq!(client.get::<String>("k").expect("read").as_deref(), Some("v"));
}

#[test]
fn a_name_that_does_not_exist_fails_in_time_and_is_named() {
    let _quiet = quiet();
    let timeout = Duration::from_millis(300);
    let client = patient("no-such-host.invalid").timeout(timeout).build().expect("settings");
    let (got, took) = timed(|| client.get::<String>("k"));
    let error = got.expect_err("there is no such host");
    assert!(took <= timeout + OVERSHOOT, "took {took:?}");
    assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
    assert_eq!(error.phase(), Some(Phase::Resolve), "{error}");
    assert_eq!(error.server(), Some("no-such-host.invalid:11211"), "{error}");
}

#[test]
fn a_unix_socket_that_nobody_accepts_on_fails_in_time() {
    let _quiet = quiet();
    let path = std::env::temp_dir().join(format!("mcpool-full-{}.sock", std::process::id()));
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
    bind(&listener, &SocketAddrUnix::new(&path).expect("a short path")).expect("a free path");
    listen(&listener, 0).expect("a backlog of 0");
    let timeout = Duration::from_millis(300);
    let client =
        patient(format!("unix:{}", path.display())).timeout(timeout).build().expect("settings");
    // The connections that were given up stay in the queue, until one finds no room.
    let errors = std::iter::repeat_with(|| {
        let (got, took) = timed(|| client.version().into_result());
        assert!(took <= timeout + OVERSHOOT, "took {took:?}");
        got.expect_err("nobody answers")
    });
    let error = errors.take(8).find(|e| e.phase() == Some(Phase::Connect)).expect("no room");
    assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
    drop(listener);
    std::fs::remove_file(&path).expect("the socket's file");
}
