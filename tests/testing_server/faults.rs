//! Scripted faults do what they say, to the commands they are meant for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mcpool::testing::{Fault, TestServer, When};

use crate::wire::{PATIENCE, Wire};

#[test]
fn a_hanging_connection_reads_on_but_never_answers() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Hang, When::next(1).verb("incr"));
    server.put("n", "1", 0);
    let mut wire = Wire::of(&server);
    wire.send("version\r\nincr n 1\r\nversion\r\n");
    assert_eq!(wire.hear(1), "VERSION 1.6.18\r\n");
    assert!(server.wait_for(|events| events.len() == 3, PATIENCE));
    assert_eq!(
        Wire::of(&server).ask("get n\r\n", 3),
        "VALUE n 0 1\r\n2\r\nEND\r\n",
        "it was carried out"
    );
    server.close_connections();
    assert_eq!(wire.rest(), "", "nothing came");
}

#[test]
fn a_late_reply_comes_late() {
    let server = TestServer::start().unwrap();
    let pause = Duration::from_millis(120);
    server.fault(Fault::Late(pause), When::next(1));
    let mut wire = Wire::of(&server);
    let start = Instant::now();
    assert_eq!(wire.ask("delete a\r\ndelete a\r\n", 2), "NOT_FOUND\r\nNOT_FOUND\r\n");
    assert!(start.elapsed() >= pause);
}

#[test]
fn what_is_late_or_dribbles_comes_at_once_when_the_faults_are_cleared() {
    let server = TestServer::start().unwrap();
    let hour = Duration::from_secs(3600);
    for fault in [Fault::Late(hour), Fault::Dribble { bytes: 1, pause: hour }] {
        server.fault(fault, When::next(1));
        let mut wire = Wire::of(&server);
        server.clear_events();
        wire.send("delete a\r\n");
        assert!(server.wait_for(|events| !events.is_empty(), PATIENCE));
        server.clear_faults();
        assert_eq!(wire.hear(1), "NOT_FOUND\r\n");
    }
}

#[test]
fn a_stop_does_not_wait_for_late_replies() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Late(Duration::from_secs(3600)), When::always());
    server.fault(Fault::Dribble { bytes: 1, pause: Duration::from_secs(3600) }, When::always());
    let mut wire = Wire::of(&server);
    wire.send("version\r\n");
    assert!(server.wait_for(|events| events.len() == 2, PATIENCE));
    server.stop();
    assert_eq!(wire.rest(), "");
}

#[test]
fn a_connection_closes_after_the_given_bytes_of_a_reply() {
    let server = TestServer::start().unwrap();
    for (bytes, expected) in [(0, ""), (1, "S"), (8, "STORED\r\n"), (99, "STORED\r\n")] {
        server.fault(Fault::CloseAfter(bytes), When::next(1).verb("set"));
        let mut wire = Wire::of(&server);
        wire.send(&format!("delete none\r\nset k{bytes} 0 0 1\r\nv\r\n"));
        assert_eq!(wire.rest(), format!("NOT_FOUND\r\n{expected}"));
        assert!(server.item(format!("k{bytes}")).is_some(), "it was carried out");
    }
}

#[test]
fn a_dribbling_reply_comes_in_pieces_and_whole() {
    let server = TestServer::start().unwrap();
    server.put("a", "value", 0);
    let pause = Duration::from_millis(2);
    server.fault(Fault::Dribble { bytes: 3, pause }, When::next(1));
    let start = Instant::now();
    let expected = "VALUE a 0 5\r\nvalue\r\nEND\r\n";
    assert_eq!(Wire::of(&server).ask("get a\r\n", 3), expected);
    let pieces = u32::try_from(expected.len().div_ceil(3)).unwrap();
    assert!(start.elapsed() >= pause * (pieces - 1));
}

#[test]
fn another_reply_takes_the_place_of_a_command() {
    let server = TestServer::start().unwrap();
    server.put("a", "old", 0);
    server.fault(Fault::Reply("SERVER_ERROR out of memory\r\n".into()), When::next(2));
    let mut wire = Wire::of(&server);
    assert_eq!(
        wire.ask("set a 0 0 3\r\nnew\r\nset a 0 0 3 noreply\r\nnew\r\nversion\r\n", 3),
        "SERVER_ERROR out of memory\r\nSERVER_ERROR out of memory\r\nVERSION 1.6.18\r\n"
    );
    assert_eq!(server.item("a"), Some((b"old".to_vec(), 0)), "it was not carried out");
}

#[test]
fn garbage_is_sent_as_it_is() {
    let server = TestServer::start().unwrap();
    let garbage = [0x81, 0, b'\n', 0xff, b'V'];
    server.fault(Fault::Reply(garbage.into()), When::next(1));
    let mut socket = TcpStream::connect(server.address()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"get a\r\nget a\r\nquit\r\n").unwrap();
    let mut heard = Vec::new();
    socket.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, [garbage.as_slice(), b"END\r\n"].concat());
}

#[test]
fn faults_strike_commands_that_want_no_reply_too() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Surplus("STORED\r\n".into()), When::next(1).verb("set"));
    server.fault(Fault::CloseAfter(3), When::next(1).verb("delete"));
    let mut wire = Wire::of(&server);
    wire.send("set a 0 0 1 noreply\r\nv\r\ndelete b noreply\r\nversion\r\n");
    assert_eq!(wire.rest(), "STORED\r\n");
    assert_eq!(server.item("a"), Some((b"v".to_vec(), 0)));
}

#[test]
fn a_fault_of_no_command_strikes_none() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Hang, When::next(0));
    server.fault(Fault::Dribble { bytes: 0, pause: Duration::ZERO }, When::always());
    assert_eq!(Wire::of(&server).ask("get a\r\nget a\r\n", 2), "END\r\nEND\r\n");
}

#[test]
fn value_lines_name_a_wrong_key() {
    let server = TestServer::start().unwrap();
    server.put("a", "VALUE a 0 1\r\n", 1);
    server.put("b", "", 2);
    server.fault(Fault::WrongKey("other".into()), When::next(2));
    let mut wire = Wire::of(&server);
    assert_eq!(
        wire.ask("get a x b\r\n", 6),
        "VALUE other 1 13\r\nVALUE a 0 1\r\n\r\nVALUE other 2 0\r\n\r\nEND\r\n"
    );
    assert_eq!(wire.ask("get x\r\n", 1), "END\r\n");
    assert_eq!(wire.ask("get b\r\n", 3), "VALUE b 2 0\r\n\r\nEND\r\n");
}

#[test]
fn surplus_bytes_follow_a_reply_and_faults_add_up() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Surplus("END\r\n".into()), When::always().verb("delete"));
    server.fault(Fault::CloseAfter(14), When::always().verb("delete").after(1));
    let mut wire = Wire::of(&server);
    wire.send("delete a\r\ntouch a 0\r\ndelete a\r\n");
    assert_eq!(wire.rest(), "NOT_FOUND\r\nEND\r\nNOT_FOUND\r\nNOT_FOUND\r\nEND");
}

#[test]
fn faults_strike_the_commands_they_are_meant_for() {
    let server = TestServer::start().unwrap();
    server.fault(Fault::Reply("X\r\n".into()), When::next(2).verb("get").after(1));
    let mut wire = Wire::of(&server);
    assert_eq!(
        wire.ask("get a\r\ntouch a 0\r\nget a\r\ngets a\r\nget a\r\nget a\r\n", 6),
        "END\r\nNOT_FOUND\r\nX\r\nEND\r\nX\r\nEND\r\n"
    );
    server.fault(Fault::Reply("X\r\n".into()), When::always());
    assert_eq!(wire.ask("get a\r\n", 1), "X\r\n");
    server.clear_faults();
    assert_eq!(wire.ask("get a\r\n", 1), "END\r\n");
}

#[test]
fn a_connection_is_turned_away_with_words() {
    let server = TestServer::start().unwrap();
    server.fault(
        Fault::TurnAway("ERROR Too many open connections\r\n".into()),
        When::next(1).after(1),
    );
    let mut first = Wire::of(&server);
    assert_eq!(first.ask("get a\r\n", 1), "END\r\n");
    assert_eq!(Wire::of(&server).rest(), "ERROR Too many open connections\r\n");
    assert_eq!(Wire::of(&server).ask("get a\r\n", 1), "END\r\n");
}
