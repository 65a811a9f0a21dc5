//! The real memcached and the blackhole that tests start are what they claim to be.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::support::blackhole::blackhole;
use crate::support::memcached::Memcached;
use crate::wire::Wire;

#[test]
fn a_blackhole_neither_accepts_nor_refuses() {
    let blackhole = blackhole();
    for _ in 0..3 {
        let error =
            TcpStream::connect_timeout(&blackhole.addr(), Duration::from_millis(100)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }
}

#[test]
fn the_real_memcached_can_be_paused_killed_and_restarted() {
    let mut server = Memcached::start();
    let addr = server.addr();
    let mut wire = Wire::to(addr);
    wire.ask("set a 0 0 1\r\nv\r\n", 1);
    server.pause();
    wire.send("get a\r\n");
    let mut paused = TcpStream::connect(addr).expect("the kernel accepts for it");
    paused.write_all(b"get a\r\n").unwrap();
    paused.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(paused.read(&mut [0; 1]).is_err(), "it answers");
    server.resume();
    assert_eq!(wire.hear(3), "VALUE a 0 1\r\nv\r\nEND\r\n");
    server.kill();
    assert!(TcpStream::connect(addr).is_err());
    server.restart_on_same_port();
    assert_eq!(server.addr(), addr);
    assert_eq!(Wire::to(addr).ask("get a\r\n", 1), "END\r\n");
}

#[test]
fn the_real_memcached_listens_on_a_unix_socket() {
    let mut server = Memcached::start_unix();
    for _ in 0..2 {
        let mut wire = Wire::new(Box::new(UnixStream::connect(server.path()).unwrap()));
        assert_eq!(wire.ask("get a\r\n", 1), "END\r\n");
        server.restart_on_same_port();
    }
}
