//! Servers given by name or by path: looked up, tried address by address, refused with a reason.

use std::iter;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{Client, ErrorKind, Phase, Ttl};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

use super::common::{OVERSHOOT, busy, quiet};
use crate::support::clients::steady;
use crate::support::memcached::Memcached;
use crate::support::watch::timed;

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
    let client = steady("no-such-host.invalid").timeout(timeout).build().expect("settings");
    let (got, took) = timed(|| client.get::<String>("k"));
    let error = got.expect_err("there is no such host");
    assert!(took <= timeout + *OVERSHOOT, "took {took:?}");
    assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
    assert_eq!(error.phase(), Some(Phase::Resolve), "{error}");
    assert_eq!(error.server(), Some("no-such-host.invalid:11211"), "{error}");
}

/// A unix socket that nobody accepts on.
struct Full {
    path: PathBuf,
    _listener: OwnedFd,
}

impl Full {
    fn new(word: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mcpool-{word}-{}.sock", std::process::id()));
        let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
        bind(&listener, &SocketAddrUnix::new(&path).expect("a short path")).expect("a free path");
        listen(&listener, 0).expect("a backlog of 0");
        Self { path, _listener: listener }
    }

    fn client(&self, timeout: Duration) -> Client {
        let address = format!("unix:{}", self.path.display());
        steady(address).timeout(timeout).connect_timeout(timeout).build().expect("settings")
    }

    /// Calls until there is no room in the queue, where the connections that were given up stay.
    fn fill(&self) {
        let client = self.client(Duration::from_millis(20));
        let errors =
            iter::repeat_with(|| client.version().into_result().expect_err("nobody answers"));
        errors.take(8).find(|e| e.phase() == Some(Phase::Connect)).expect("no room");
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).expect("the socket's file");
    }
}

#[test]
fn a_unix_socket_that_nobody_accepts_on_fails_in_time() {
    let _quiet = quiet();
    let full = Full::new("full");
    full.fill();
    let timeout = Duration::from_millis(300);
    let client = full.client(timeout);
    let (got, took) = timed(|| client.version().into_result());
    let error = got.expect_err("nobody answers");
    assert!(took <= timeout + *OVERSHOOT, "took {took:?}");
    assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
}

#[test]
fn a_program_that_is_stopped_and_resumed_goes_on_waiting() {
    // Every test in this process is stopped for a moment.
    let _busy = busy();
    let full = Full::new("stopped");
    full.fill();
    let silent = Memcached::start();
    silent.pause();
    let timeout = Duration::from_millis(600);
    let clients = [
        full.client(timeout),
        steady(silent.address()).timeout(timeout).build().expect("settings"),
    ];
    let pid = std::process::id();
    std::thread::scope(|scope| {
        let calls = clients.each_ref().map(|client| {
            scope.spawn(|| {
                let start = Instant::now();
                (client.get::<String>("k").expect_err("nobody answers"), start.elapsed())
            })
        });
        let mut signals = Command::new("sh")
            .args([
                "-c",
                &format!("for i in 1 2 3; do sleep 0.1; kill -STOP {pid}; kill -CONT {pid}; done"),
            ])
            .spawn()
            .expect("a shell");
        assert!(signals.wait().expect("a child of ours").success());
        for call in calls {
            let (error, took) = call.join().expect("no panic");
            assert!(took >= timeout * 9 / 10, "given up after {took:?}: {error}");
        }
    });
}
