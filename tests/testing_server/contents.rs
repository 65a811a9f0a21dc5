//! What the embedded server holds, for how long by its clock, and what it tells of itself.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant, UNIX_EPOCH};

use mcpool::testing::{Event, TestServer};

use crate::wire::{PATIENCE, Wire, addr, rest, stats};

#[test]
fn cachedump_lists_the_items_of_a_class() {
    let server = TestServer::start().unwrap();
    let mut wire = Wire::of(&server);
    wire.ask("set a 0 0 1\r\nv\r\nset b\tc 0 1999999999 2\r\nvv\r\n", 2);
    let (a, b) = ("ITEM a [1 b; 0 s]\r\n", "ITEM b\tc [2 b; 1999999999 s]\r\n");
    assert_eq!(wire.ask("stats cachedump 1 0\r\n", 3), format!("{a}{b}END\r\n"));
    assert_eq!(wire.ask("stats cachedump 1 1\r\n", 2), format!("{a}END\r\n"));
    assert_eq!(wire.ask("stats cachedump 2 0\r\n", 1), "END\r\n");
    assert!(stats(addr(&server), "stats items").contains(&("items:1:number".into(), "2".into())));
}

#[test]
fn expiry_obeys_the_clock() {
    let server = TestServer::start().unwrap();
    let clock = server.clock();
    clock.freeze();
    let mut wire = Wire::of(&server);
    wire.ask("set short 0 10 1\r\nv\r\nset never 0 0 1\r\nv\r\nset month 0 2592000 1\r\nv\r\n", 3);
    clock.advance(Duration::from_millis(9_999));
    assert!(server.item("short").is_some());
    clock.advance(Duration::from_millis(1));
    assert_eq!(wire.ask("get short never\r\n", 3), "VALUE never 0 1\r\nv\r\nEND\r\n");
    assert_eq!(wire.ask("touch month 5\r\n", 1), "TOUCHED\r\n");
    clock.advance(Duration::from_secs(5));
    assert_eq!((server.item("month"), server.item("never")), (None, Some((b"v".to_vec(), 0))));

    clock.set(UNIX_EPOCH + Duration::from_secs(1_900_000_000));
    wire.ask("set date 0 1900000060 1\r\nv\r\n", 1);
    clock.advance(Duration::from_secs(59));
    assert_eq!(wire.ask("gat 1900000070 date\r\n", 3), "VALUE date 0 1\r\nv\r\nEND\r\n");
    clock.advance(Duration::from_secs(10));
    assert!(server.item("date").is_some());
    clock.advance(Duration::from_secs(1));
    assert_eq!(wire.ask("get date\r\n", 1), "END\r\n");
}

#[test]
fn the_clock_runs_until_frozen_and_again_when_told() {
    let clock = TestServer::start().unwrap().clock();
    clock.freeze();
    let frozen = clock.now();
    assert_eq!(clock.now(), frozen);
    clock.run();
    let start = Instant::now();
    while clock.now() == frozen {
        assert!(start.elapsed() < PATIENCE, "the clock stands still");
    }
}

#[test]
fn a_delayed_flush_takes_what_is_stored_before_it_strikes_and_nothing_later() {
    let server = TestServer::start().unwrap();
    server.clock().freeze();
    let mut wire = Wire::of(&server);
    wire.ask("set before 0 0 1\r\nv\r\nflush_all 10\r\nset meanwhile 0 0 1\r\nv\r\n", 3);
    server.clock().advance(Duration::from_secs(9));
    assert!(server.item("before").is_some() && server.item("meanwhile").is_some());
    server.clock().advance(Duration::from_secs(1));
    wire.ask("set later 0 0 1\r\nv\r\n", 1);
    assert_eq!(wire.ask("get before meanwhile later\r\n", 3), "VALUE later 0 1\r\nv\r\nEND\r\n");
    wire.ask("flush_all 10\r\nflush_all\r\nset kept 0 0 1\r\nv\r\n", 3);
    server.clock().advance(Duration::from_secs(20));
    assert!(server.item("kept").is_some(), "the flush at once took the place of the delayed one");
}

#[test]
fn items_can_be_put_and_seen_from_outside() {
    let server = TestServer::start().unwrap();
    server.put("a", "value", 3);
    assert_eq!(Wire::of(&server).ask("get a\r\n", 3), "VALUE a 3 5\r\nvalue\r\nEND\r\n");
    assert_eq!(server.item("a"), Some((b"value".to_vec(), 3)));
    assert_eq!(server.item("b"), None);
}

#[test]
fn events_tell_who_came_what_they_asked_and_when_they_left() {
    let server = TestServer::start().unwrap();
    let mut wire = Wire::of(&server);
    wire.ask("set a 0 0 1\r\nv\r\n", 1);
    wire.ask("mg a v\r\n", 1);
    drop(wire);
    let line = |text: &str| text.to_owned();
    let expected = [
        Event::Connected { connection: 1 },
        Event::Command { connection: 1, line: line("set a 0 0 1") },
        Event::Command { connection: 1, line: line("mg a v") },
        Event::Unknown { connection: 1, line: line("mg a v") },
        Event::Closed { connection: 1 },
    ];
    assert!(server.wait_for(|events| events == expected, PATIENCE), "{:?}", server.events());
    assert_eq!(server.commands(), ["set a 0 0 1", "mg a v"]);
    assert_eq!(server.connections(), 0);
    server.clear_events();
    assert!(server.events().is_empty());
    assert!(!server.wait_for(|events| !events.is_empty(), Duration::from_millis(1)));
}

#[test]
fn commands_are_not_logged_when_not_wanted() {
    let server = TestServer::builder().record_commands(false).start().unwrap();
    Wire::of(&server).ask("version\r\n", 1);
    assert!(server.commands().is_empty());
}

#[test]
fn the_binary_dialect_is_hung_up_on() {
    let server = TestServer::start().unwrap();
    let mut socket = TcpStream::connect(server.address()).unwrap();
    socket.write_all(&[0x80, 0x0b, 0, 0]).unwrap();
    assert_eq!(rest(&mut socket), "");
    assert!(server.events().iter().any(|event| matches!(event, Event::Unknown { .. })));
}
