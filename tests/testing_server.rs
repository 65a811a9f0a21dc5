//! The embedded server answers as the real memcached does, and its faults, clock and life cycle do what they say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what goes wrong here fails the test")]

mod support;
#[path = "testing_server/transcripts.rs"]
mod transcripts;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant, UNIX_EPOCH};

use mcpool::testing::{Event, Fault, TestServer, When};
use support::blackhole::blackhole;
use support::memcached::Memcached;
use support::transcript::Transcript;
use transcripts::{PIPELINED_DUMP, case, owned, transcripts};

const PATIENCE: Duration = Duration::from_secs(10);

/// Holds every transcript that is wanted, with an empty server before each, and reports all that went wrong.
fn hold_all(addr: SocketAddr, piece: usize, wanted: impl Fn(&Transcript) -> bool) {
    let reset = case("reset", &[("flush_all\r\n", "OK\r\n")]);
    let mut wrong = Vec::new();
    for transcript in transcripts().into_iter().filter(wanted) {
        reset.hold(addr, usize::MAX).expect("a flush");
        wrong.extend(transcript.hold(addr, piece).err());
    }
    assert!(wrong.is_empty(), "{} transcripts differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_real_memcached_answers_as_the_transcripts_say() {
    hold_all(Memcached::start().addr(), usize::MAX, |_| true);
}

#[test]
fn the_embedded_server_answers_as_the_transcripts_say() {
    hold_all(addr(&TestServer::start().unwrap()), usize::MAX, |_| true);
}

#[test]
fn the_embedded_server_answers_the_same_when_bytes_come_one_by_one() {
    // Large values would only take long, and what is pipelined no longer is.
    let wanted = |transcript: &Transcript| {
        transcript.name != PIPELINED_DUMP
            && transcript.steps.iter().all(|(sent, _)| sent.len() < 5000)
    };
    hold_all(addr(&TestServer::start().unwrap()), 1, wanted);
}

#[test]
fn both_servers_count_the_same() {
    // Counters first: memcached does not write into an item whose value still waits to be sent.
    let work = [
        "set n 0 0 1\r\n1\r\nincr n 1\r\nincr n 100\r\ndecr n 1\r\nincr x 1\r\ndecr x 1\r\n",
        "set a 0 0 1\r\n1\r\nset a 0 0 1\r\n1\r\nget a x y\r\ngets a\r\ngat 0 a x\r\ntouch a 0\r\n",
        "touch x 0\r\nappend a 0 0 1\r\n5\r\nadd a 0 0 1\r\n5\r\nreplace x 0 0 1\r\n5\r\n",
        "cas a 0 0 1 0\r\n5\r\ncas x 0 0 1 0\r\n5\r\ndelete x\r\nset c 7 0 2\r\nxx\r\ndelete c\r\n",
        "set d 1 0 3\r\nddd\r\nget d\r\nquit\r\n",
    ]
    .concat();
    let counted = |addr: SocketAddr| {
        let mut socket = TcpStream::connect(addr).unwrap();
        socket.write_all(work.as_bytes()).unwrap();
        socket.read_to_end(&mut Vec::new()).unwrap();
        let names = [
            "cmd_get",
            "cmd_set",
            "cmd_touch",
            "get_hits",
            "get_misses",
            "delete_hits",
            "delete_misses",
            "incr_hits",
            "incr_misses",
            "decr_hits",
            "decr_misses",
            "cas_hits",
            "cas_misses",
            "cas_badval",
            "touch_hits",
            "touch_misses",
            "store_too_large",
            "bytes",
            "curr_items",
            "total_items",
            "evictions",
            "limit_maxbytes",
        ];
        let mut stats = stats(addr, "stats");
        stats.retain(|(name, _)| names.contains(&name.as_str()));
        let slabs = self::stats(addr, "stats slabs");
        // Chunks in use are left out: the real one gives back what is deleted only after a while.
        let layout = ["chunk_size", "chunks_per_page", "total_pages", "active_slabs"];
        stats.extend(
            slabs
                .into_iter()
                .filter(|(name, _)| layout.contains(&name.rsplit(':').next().unwrap())),
        );
        stats
    };
    let real = Memcached::start();
    let embedded = TestServer::start().unwrap();
    let (real, embedded) = (counted(real.addr()), counted(addr(&embedded)));
    assert_eq!(real, embedded);
    assert_eq!(real.len(), 22 + 3 + 1, "{real:?}");
}

#[test]
fn both_servers_take_items_as_large_as_they_are_told() {
    let real = Memcached::start_with(&["-I", "2m"]);
    let embedded = TestServer::builder().max_item_size(2 << 20).start().unwrap();
    let (fits, large) = ("v".repeat((2 << 20) - 60), "v".repeat((2 << 20) - 59));
    let transcript = owned(
        "2 MiB",
        vec![
            (format!("set a 0 0 {}\r\n{fits}\r\n", fits.len()), "STORED\r\n".to_owned()),
            (
                format!("set a 0 0 {}\r\n{large}\r\n", large.len()),
                "SERVER_ERROR object too large for cache\r\n".to_owned(),
            ),
        ],
    );
    transcript.hold(real.addr(), usize::MAX).unwrap();
    transcript.hold(addr(&embedded), usize::MAX).unwrap();
    assert_eq!(
        stats(addr(&embedded), "stats settings")
            .iter()
            .find(|(name, _)| name == "item_size_max")
            .unwrap()
            .1,
        "2097152"
    );
}

#[test]
fn every_change_of_an_item_gives_it_a_new_cas_number_and_nothing_else_does() {
    let (real, embedded) = (Memcached::start(), TestServer::start().unwrap());
    for server in [real.addr(), addr(&embedded)] {
        let mut wire = Wire::to(server);
        let mut last = 0;
        let mut changed_by = |command: &str| {
            wire.ask(command, 1);
            let reply = wire.ask("gets n\r\n", 3);
            let cas = reply.split([' ', '\r']).nth(4).unwrap().parse::<u64>().unwrap();
            std::mem::replace(&mut last, cas) != cas
        };
        for command in
            ["set n 0 0 1\r\n5\r\n", "incr n 1\r\n", "decr n 0\r\n", "append n 0 0 1\r\n0\r\n"]
        {
            assert!(changed_by(command), "{command}");
        }
        for command in ["touch n 0\r\n", "add n 0 0 1\r\n5\r\n", "cas n 0 0 1 99\r\n5\r\n"] {
            assert!(!changed_by(command), "{command}");
        }
        let set = |cas| format!("cas n 8 0 1 {cas}\r\nw\r\n");
        assert_eq!(wire.ask(&set(last), 1), "STORED\r\n");
        assert_eq!(wire.ask(&set(last), 1), "EXISTS\r\n");
        assert_eq!(wire.ask("get n\r\n", 3), "VALUE n 8 1\r\nw\r\nEND\r\n");
    }
}

#[test]
fn replies_are_held_back_while_a_value_is_incomplete() {
    let (real, embedded) = (Memcached::start(), TestServer::start().unwrap());
    for server in [real.addr(), addr(&embedded)] {
        let mut socket = TcpStream::connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        socket.write_all(b"delete a\r\nset a 0 0 1\r\n").unwrap();
        assert!(socket.read(&mut [0; 1]).is_err(), "a reply came");
        socket.write_all(b"v\r\nquit\r\n").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(rest(&mut socket), "NOT_FOUND\r\nSTORED\r\n");
    }
}

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

fn addr(server: &TestServer) -> SocketAddr {
    server.addr().expect("a TCP server")
}

/// The names and values of a `stats` reply.
fn stats(addr: SocketAddr, command: &str) -> Vec<(String, String)> {
    let mut wire = Wire::to(addr);
    wire.send(&format!("{command}\r\n"));
    let mut stats = Vec::new();
    loop {
        let line = wire.hear(1);
        let Some(stat) = line.trim_end().strip_prefix("STAT ") else {
            assert_eq!(line, "END\r\n");
            return stats;
        };
        let (name, value) = stat.split_once(' ').unwrap();
        stats.push((name.to_owned(), value.to_owned()));
    }
}

fn rest(reader: &mut impl Read) -> String {
    let mut rest = Vec::new();
    // A reset is an end, too: what was sent last may not have been read.
    _ = reader.read_to_end(&mut rest);
    String::from_utf8(rest).unwrap()
}

trait Socket: Read + Write + Send {}
impl<T: Read + Write + Send> Socket for T {}

/// A raw connection.
struct Wire(BufReader<Box<dyn Socket>>);

impl Wire {
    fn new(socket: Box<dyn Socket>) -> Self {
        Self(BufReader::new(socket))
    }

    fn to(addr: SocketAddr) -> Self {
        let socket = TcpStream::connect(addr).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self::new(Box::new(socket))
    }

    fn of(server: &TestServer) -> Self {
        Self::try_of(server).unwrap()
    }

    fn try_of(server: &TestServer) -> std::io::Result<Self> {
        if let Some(path) = server.path() {
            let socket = UnixStream::connect(path)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            return Ok(Self::new(Box::new(socket)));
        }
        let socket = TcpStream::connect(server.address())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self::new(Box::new(socket)))
    }

    fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// The next lines.
    fn hear(&mut self, lines: usize) -> String {
        let mut text = String::new();
        for _ in 0..lines {
            self.0.read_line(&mut text).unwrap();
        }
        text
    }

    fn ask(&mut self, text: &str, lines: usize) -> String {
        self.send(text);
        self.hear(lines)
    }

    /// What comes until the connection ends.
    fn rest(&mut self) -> String {
        rest(&mut self.0)
    }
}
