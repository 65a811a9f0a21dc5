//! An embedded server refuses, stops, returns and ends, and lets go of all that it held.

use std::time::{Duration, UNIX_EPOCH};

use mcpool::testing::{Fault, TestServer, When};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, bind, socket};

use crate::wire::{Wire, addr, stats};

#[test]
fn a_refusing_server_keeps_its_open_connections_and_comes_back_at_the_same_address() {
    for server in [TestServer::start().unwrap(), TestServer::start_unix().unwrap()] {
        let mut open = Wire::of(&server);
        open.ask("set a 0 0 1\r\nv\r\n", 1);
        server.refuse();
        server.refuse();
        assert!(Wire::try_of(&server).is_err());
        assert_eq!(open.ask("get a\r\n", 3), "VALUE a 0 1\r\nv\r\nEND\r\n");
        let address = server.address();
        server.listen().unwrap();
        server.listen().unwrap();
        assert_eq!(server.address(), address);
        assert_eq!(Wire::of(&server).ask("get a\r\n", 3), "VALUE a 0 1\r\nv\r\nEND\r\n");
    }
}

#[test]
fn nobody_else_gets_the_port_of_a_server_that_refuses() {
    let server = TestServer::start().unwrap();
    // As programs bind that ask for any port; one that is not taken they get.
    let take = || {
        let other = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&other, &addr(&server))
    };
    server.refuse();
    server.refuse();
    assert_eq!(take(), Err(Errno::ADDRINUSE));
    server.listen().unwrap();
    server.stop();
    assert_eq!(take(), Err(Errno::ADDRINUSE));
}

#[test]
fn a_stopped_server_hangs_up_and_keeps_its_items_a_restarted_one_is_empty() {
    let server = TestServer::start().unwrap();
    let mut wire = Wire::of(&server);
    wire.ask("set a 0 0 1\r\nv\r\n", 1);
    server.stop();
    assert_eq!((wire.rest(), server.connections()), (String::new(), 0));
    assert!(Wire::try_of(&server).is_err());
    server.listen().unwrap();
    assert_eq!(Wire::of(&server).ask("get a\r\n", 3), "VALUE a 0 1\r\nv\r\nEND\r\n");
    server.restart().unwrap();
    assert_eq!(Wire::of(&server).ask("get a\r\n", 1), "END\r\n");
    assert_eq!(
        stats(addr(&server), "stats").iter().find(|(name, _)| name == "curr_items").unwrap().1,
        "0"
    );
}

#[test]
fn a_restarted_server_keeps_clock_faults_and_events() {
    let server = TestServer::start().unwrap();
    server.clock().freeze();
    server.clock().set(UNIX_EPOCH + Duration::from_secs(2_000_000_000));
    server.fault(Fault::Reply("X\r\n".into()), When::always().verb("get"));
    Wire::of(&server).ask("version\r\n", 1);
    server.restart().unwrap();
    assert_eq!(Wire::of(&server).ask("get a\r\n", 1), "X\r\n");
    assert_eq!(server.commands(), ["version", "get a"]);
    let stats = stats(addr(&server), "stats");
    let told = |name: &str| stats.iter().find(|(told, _)| told == name).unwrap().1.as_str();
    assert_eq!((told("time"), told("uptime")), ("2000000000", "0"));
}

#[test]
fn a_server_is_found_where_it_was_told_to_listen() {
    let tcp = TestServer::start().unwrap();
    let port = tcp.addr().unwrap().port();
    assert_eq!((tcp.address(), tcp.path()), (format!("127.0.0.1:{port}"), None));
    let unix = TestServer::start_unix().unwrap();
    let path = unix.path().unwrap();
    assert_eq!((unix.address(), unix.addr()), (format!("unix:{}", path.display()), None));
    let taken = TestServer::builder().unix(path).start().unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    assert_eq!(Wire::of(&unix).ask("version\r\n", 1), "VERSION 1.6.18\r\n", "unharmed");
    let taken = TestServer::builder().bind(tcp.addr().unwrap()).start().unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn a_dropped_server_lets_go_of_everything() {
    let server = TestServer::start_unix().unwrap();
    let path = server.path().unwrap().to_owned();
    let mut wire = Wire::of(&server);
    server.fault(Fault::Hang, When::always());
    wire.send("version\r\n");
    assert!(path.exists());
    drop(server);
    assert_eq!(wire.rest(), "");
    assert!(!path.exists());
}

#[test]
fn a_dropped_server_whose_socket_file_is_gone_waits_for_nobody() {
    let server = TestServer::start_unix().unwrap();
    std::fs::remove_file(server.path().unwrap()).unwrap();
    drop(server);
}

#[test]
fn a_server_listens_on_ipv6_too() {
    let server = TestServer::builder().bind("[::1]:0".parse().unwrap()).start().unwrap();
    assert_eq!(Wire::of(&server).ask("version\r\n", 1), "VERSION 1.6.18\r\n");
}

#[test]
fn many_connections_count_together() {
    let server = TestServer::start().unwrap();
    server.put("n", "0", 0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut wire = Wire::of(&server);
                (0..100).for_each(|_| drop(wire.ask("incr n 1\r\n", 1)));
            });
        }
    });
    assert_eq!(server.item("n"), Some((b"800".to_vec(), 0)));
}
