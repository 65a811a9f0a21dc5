//! Signals: interrupted system calls go on, and a write to a closed connection never ends the process.

#[path = "../../support/mod.rs"]
mod support;

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, ClientBuilder, ErrorKind, Failover, Ttl};
use mcpool_process_tests::{default_sigpipe, fork, interrupted};
use support::blackhole::blackhole;

const PATIENCE: Duration = Duration::from_secs(20);

fn settings(addresses: &[String]) -> ClientBuilder {
    let settings = Client::builder().servers(addresses).min_connections(0).timeout(PATIENCE);
    settings.failover(Failover::Off)
}

fn server() -> TestServer {
    TestServer::start().expect("a server")
}

#[test]
fn signals_in_the_middle_of_a_call_do_not_end_it() {
    let servers = [server(), TestServer::start_unix().expect("a server")];
    let addresses = servers.each_ref().map(TestServer::address);
    let client = settings(&addresses).build().expect("a client");
    let big = "v".repeat(600_000);
    for server in &servers {
        server.fault(Fault::Late(Duration::from_millis(30)), When::always());
        server.put("big", big.as_str(), 0);
    }
    let keys: Vec<String> = (0..40).map(|n| format!("k{n}")).collect();
    let ((), handled) = interrupted(|| {
        for key in &keys[..8] {
            client.set(key, key, Ttl::NEVER).expect("stored");
            assert_eq!(client.get::<String>(key).expect("read").as_ref(), Some(key));
        }
        client.set("large", &big, Ttl::NEVER).expect("stored");
        assert_eq!(client.get::<String>("large").expect("read").as_ref(), Some(&big));
        client.set_many(keys.iter().map(|k| (k, k)), Ttl::NEVER).into_result().expect("stored");
        let found = client.get_many::<String, _>(&keys).into_result().expect("read");
        assert!(found.iter().all(|(key, value)| value.as_ref() == Some(key)));
        assert_eq!(client.version().into_result().expect("answered").len(), 2);
    });
    assert!(handled > 50, "{handled} signals");
}

#[test]
fn signals_do_not_stretch_a_deadline() {
    let server = server();
    server.fault(Fault::Hang, When::always().verb("get"));
    let client = settings(&[server.address()]).timeout(Duration::from_millis(200));
    let client = client.max_connections(1).build().expect("a client");
    let hole = blackhole();
    let nowhere = settings(&[hole.address()]).connect_timeout(Duration::from_millis(200));
    let nowhere = nowhere.build().expect("a client");
    let ((), handled) = interrupted(|| {
        let started = Instant::now();
        let error = client.get::<String>("k").expect_err("no reply");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        let many = client.get_many::<String, _>(["k"]).into_result();
        assert_eq!(many.expect_err("no reply").kind(), ErrorKind::Timeout);
        let error = nowhere.get::<String>("k").expect_err("no connection");
        assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
        assert!(error.to_string().contains("no answer in time"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    });
    assert!(handled > 50, "{handled} signals");
}

#[test]
fn signals_do_not_end_the_wait_for_a_busy_unix_socket() {
    let path = std::env::temp_dir().join(format!("mcpool-full-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).expect("a socket");
    let address = [format!("unix:{}", path.display())];
    // Its backlog is filled by connects that wait, as in a server that does not get to accepting.
    let full = fill(&path);
    let client = settings(&address).connect_timeout(Duration::from_millis(200));
    let client = client.build().expect("a client");
    let (error, handled) = interrupted(|| client.get::<String>("k").expect_err("no room"));
    assert!(handled > 20, "{handled} signals");
    assert_eq!(error.kind(), ErrorKind::ServerDown, "{error}");
    assert!(error.to_string().contains("no answer in time"), "{error}");
    drop((full, listener));
    std::fs::remove_file(&path).expect("it was there");
}

/// Connects without waiting until the backlog is full.
fn fill(path: &std::path::Path) -> Vec<std::os::fd::OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
    let address = SocketAddrUnix::new(path).expect("a path");
    let mut full = Vec::new();
    loop {
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
        rustix::io::ioctl_fionbio(&socket, true).expect("an option");
        if connect(&socket, &address).is_err() {
            return full;
        }
        full.push(socket);
        assert!(full.len() < 100_000, "the backlog does not fill up");
    }
}

#[test]
fn f217_a_write_to_a_closed_connection_is_an_error_and_no_signal() {
    default_sigpipe();
    let big = "v".repeat(900_000);
    for server in [server(), TestServer::start_unix().expect("a server")] {
        let client = settings(&[server.address()]).build().expect("a client");
        for round in 0..20 {
            client.set("k", "v", Ttl::NEVER).expect("stored");
            let open = server.connections();
            server.close_connections();
            // Large ones meet the closed socket in the middle of a write, small ones at the next.
            if round % 2 == 0 {
                client.set("k", &big, Ttl::NEVER).expect("sent again on a fresh connection");
            } else {
                client
                    .set_many([("k", "v"), ("l", "w")], Ttl::NEVER)
                    .into_result()
                    .expect("sent again");
            }
            assert_eq!(open, 1);
        }
        server.stop();
        let error = client.set("k", &big, Ttl::NEVER).expect_err("nobody is there");
        assert!(error.is_server_down() || error.kind() == ErrorKind::ConnectionLost, "{error}");
    }
    // A plain write does end a process here.
    let (one, other) = rustix::pipe::pipe().expect("a pipe");
    drop(one);
    let child = fork(|| {
        let _ = rustix::io::write(&other, b"x");
    });
    assert_eq!(child.ended_by(), Some(rustix::process::Signal::PIPE.as_raw()));
}
