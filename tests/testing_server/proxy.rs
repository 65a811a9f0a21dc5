//! A proxy passes on what its weather lets pass, and lets go of everything when dropped.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use mcpool::testing::{Proxy, TestServer, Weather};

use crate::wire::{PATIENCE, Wire, addr, rest};

#[test]
fn in_calm_weather_everything_passes_as_it_is() {
    let (server, proxy) = calm();
    let large = "v".repeat(300_000);
    let mut wire = through(&proxy);
    wire.send(&format!("set a 0 0 {}\r\n{large}\r\nget a\r\n", large.len()));
    assert_eq!(wire.hear(4), format!("STORED\r\nVALUE a 0 {}\r\n{large}\r\nEND\r\n", large.len()));
    assert_eq!((proxy.accepted(), proxy.connections(), proxy.injected()), (1, 1, 0));
    server.close_connections();
    assert_eq!(wire.rest(), "");
}

#[test]
fn a_half_closed_connection_still_gets_its_replies() {
    let (_server, proxy) = calm();
    let mut socket = connect(&proxy);
    socket.write_all(b"version\r\n").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut socket), "VERSION 1.6.18\r\n");
}

#[test]
fn a_cut_ends_the_connection_within_a_reply() {
    let (server, proxy) = calm();
    server.put("a", "value", 0);
    proxy.weather(replies(|weather| weather.cut = 1.0));
    let mut wire = through(&proxy);
    wire.send("get a\r\n");
    let (got, whole) = (wire.rest(), "VALUE a 0 5\r\nvalue\r\nEND\r\n");
    assert!(whole.starts_with(&got) && got.len() < whole.len(), "{got:?}");
    assert_eq!(proxy.injected(), 1);
}

#[test]
fn a_reset_is_one() {
    let (_server, proxy) = calm();
    proxy.weather(replies(|weather| weather.reset = 1.0));
    let mut socket = connect(&proxy);
    socket.write_all(b"version\r\n").unwrap();
    let error = socket.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn what_is_swallowed_does_not_come_while_the_connection_stays_open() {
    let (server, proxy) = calm();
    let mut wire = through(&proxy);
    assert_eq!(wire.ask("set a 0 0 1\r\n1\r\n", 1), "STORED\r\n");
    proxy.weather(replies(|weather| weather.swallow = 1.0));
    wire.send("incr a 1\r\n");
    assert!(server.wait_for(|events| events.len() == 3, PATIENCE));
    until(|| proxy.injected() == 1);
    // Calm weather does not bring back a connection that swallows.
    proxy.weather(Weather::calm());
    wire.send("incr a 1\r\nquit\r\n");
    assert_eq!(wire.rest(), "");
    assert_eq!(server.item("a"), Some((b"3".to_vec(), 0)));
}

#[test]
fn delays_and_freezes_hold_a_reply_back_and_pieces_come_whole() {
    let (_server, proxy) = calm();
    let pause = Duration::from_millis(20);
    proxy.weather(replies(|weather| {
        weather.delay = pause..pause;
        (weather.freeze, weather.freeze_time) = (1.0, pause);
        weather.split = 1.0;
    }));
    let start = Instant::now();
    assert_eq!(through(&proxy).ask("version\r\n", 1), "VERSION 1.6.18\r\n");
    assert!(start.elapsed() >= 2 * pause);
    assert_eq!(proxy.injected(), 3);
}

#[test]
fn a_half_close_ends_one_direction_after_its_segment() {
    let (server, proxy) = calm();
    proxy.weather(replies(|weather| weather.half_close = 1.0));
    let mut wire = through(&proxy);
    wire.send("version\r\n");
    assert_eq!(wire.rest(), "VERSION 1.6.18\r\n");
    wire.send("set a 0 0 1 noreply\r\nv\r\n");
    until(|| server.item("a").is_some());
}

#[test]
fn connections_are_turned_away_by_the_weather_and_when_the_server_is_gone() {
    let (server, proxy) = calm();
    let mut weather = Weather::calm();
    weather.turn_away = 1.0;
    proxy.weather(weather);
    assert_eq!(through(&proxy).rest(), "");
    assert_eq!((proxy.accepted(), proxy.injected()), (1, 1));
    proxy.weather(Weather::calm());
    server.stop();
    assert_eq!(through(&proxy).rest(), "");
    assert_eq!((proxy.accepted(), proxy.injected(), proxy.connections()), (2, 1, 0));
    server.listen().unwrap();
    assert_eq!(through(&proxy).ask("version\r\n", 1), "VERSION 1.6.18\r\n");
}

#[test]
fn the_same_seed_brings_the_same_weather() {
    let server = TestServer::start().unwrap();
    let heard = |seed| {
        let proxy = Proxy::start(addr(&server), seed).unwrap();
        proxy.weather(replies(|weather| weather.cut = 0.5));
        let ask = |_| {
            let mut wire = through(&proxy);
            wire.send("version\r\nquit\r\n");
            wire.rest()
        };
        (0..20).map(ask).collect::<Vec<_>>()
    };
    assert_eq!(heard(1), heard(1));
    assert_ne!(heard(1), heard(2));
}

#[test]
fn a_dropped_proxy_waits_for_no_freeze_and_for_nobody_who_does_not_read() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = Proxy::start(silent.local_addr().unwrap(), 1).unwrap();
    let mut socket = connect(&proxy);
    socket.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while socket.write(&[0; 65536]).is_ok() {}
    let mut weather = Weather::calm();
    (weather.freeze, weather.freeze_time) = (1.0, Duration::from_secs(3600));
    proxy.weather(weather);
    let mut frozen = connect(&proxy);
    frozen.write_all(b"version\r\n").unwrap();
    until(|| proxy.injected() > 0);
    let start = Instant::now();
    drop(proxy);
    assert!(start.elapsed() < Duration::from_secs(3));
    assert_eq!(rest(&mut frozen), "");
}

/// A server and a proxy in front of it.
fn calm() -> (TestServer, Proxy) {
    let server = TestServer::start().unwrap();
    let proxy = Proxy::start(addr(&server), 1).unwrap();
    (server, proxy)
}

/// Weather that only replies have.
fn replies(change: impl FnOnce(&mut Weather)) -> Weather {
    let mut weather = Weather::calm();
    weather.requests = false;
    change(&mut weather);
    weather
}

fn connect(proxy: &Proxy) -> TcpStream {
    let socket = TcpStream::connect(proxy.address()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn through(proxy: &Proxy) -> Wire {
    Wire::to(proxy.address().parse().unwrap())
}

/// Waits for what nobody tells of.
fn until(seen: impl Fn() -> bool) {
    let start = Instant::now();
    while !seen() {
        assert!(start.elapsed() < PATIENCE, "it does not happen");
        std::thread::yield_now();
    }
}
