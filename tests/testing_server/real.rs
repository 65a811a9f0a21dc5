//! The real memcached and the blackhole that tests start are what they claim to be.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::support::binary::find;
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

#[test]
fn no_memcached_outlives_the_test_that_panics_even_a_paused_one() {
    let (tell, told) = std::sync::mpsc::channel();
    let test = move || {
        let servers = [Memcached::start(), Memcached::start_unix()];
        servers[1].pause();
        tell.send(servers.each_ref().map(Memcached::pid)).unwrap();
        std::panic::resume_unwind(Box::new("a failed test"));
    };
    std::thread::spawn(test).join().unwrap_err();
    for pid in told.recv().unwrap() {
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        assert_eq!(test_kill_process(pid), Err(Errno::SRCH));
    }
}

#[test]
fn memcached_is_found_where_it_is_named_or_installed() {
    let root = std::env::temp_dir().join(format!("mcpool-found-{}", std::process::id()));
    let [sbin, bin, empty] = ["sbin", "bin", "empty"].map(|name| root.join(name));
    for place in [&sbin, &bin, &empty] {
        std::fs::create_dir_all(place).unwrap();
    }
    // A directory of that name is not the program.
    std::fs::create_dir_all(empty.join("memcached")).unwrap();
    let named = sbin.join("another");
    for file in [&named, &sbin.join("memcached"), &bin.join("memcached")] {
        std::fs::write(file, "").unwrap();
    }
    let places = [empty.to_str().unwrap(), sbin.to_str().unwrap()];
    let path = Some(bin.clone().into_os_string());
    let found = |named: Option<&Path>, path: Option<OsString>, places: &[&str]| {
        find(named.map(|named| named.as_os_str().to_owned()), path, places)
    };
    let results = [
        found(Some(&named), path.clone(), &places),
        found(Some(Path::new("")), path.clone(), &places),
        found(None, None, &places),
        found(Some(&root.join("none")), path, &places),
        found(None, None, &places[..1]),
    ];
    std::fs::remove_dir_all(&root).unwrap();
    let [first, second, third, missing, nowhere] = results;
    assert_eq!(
        [first, second, third],
        [Ok(named), Ok(bin.join("memcached")), Ok(sbin.join("memcached"))]
    );
    let missing = missing.unwrap_err();
    assert!(
        missing.starts_with("MCPOOL_MEMCACHED=") && missing.ends_with("/none is not a program"),
        "{missing}"
    );
    let nowhere = nowhere.unwrap_err();
    let (what, command) = nowhere.split_once("; type: ").unwrap();
    assert_eq!(what, "there is no memcached");
    assert!(command.ends_with(" memcached") && !command.contains('\n'), "{command}");
}
