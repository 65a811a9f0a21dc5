//! The embedded server and the real memcached give the same answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mcpool::testing::TestServer;

use crate::support::memcached::Memcached;
use crate::support::transcript::Transcript;
use crate::transcripts::{PIPELINED_DUMP, case, owned, transcripts};
use crate::wire::{PATIENCE, Wire, addr, listed, rest, stats, told};

/// What `stats` counts of the commands.
pub(crate) const COUNTED: [&str; 19] = [
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
    "total_items",
    "cmd_flush",
];
/// What `stats` tells of the items.
const SIZES: [&str; 4] = ["bytes", "curr_items", "limit_maxbytes", "evictions"];

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
        let mut stats = stats(addr, "stats");
        stats
            .retain(|(name, _)| COUNTED.contains(&name.as_str()) || SIZES.contains(&name.as_str()));
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
    assert_eq!(real.len(), COUNTED.len() + SIZES.len() + 3 + 1, "{real:?}");
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
fn both_servers_put_items_of_every_size_into_the_same_class() {
    let (real, embedded) = (Memcached::start(), TestServer::start().unwrap());
    let lengths = std::iter::successors(Some(1_usize), |len| Some(len + len.div_ceil(10)));
    let stores = lengths
        .take_while(|len| *len < 1_000_000)
        .map(|len| format!("set k{len} {} 0 {len} noreply\r\n{}\r\n", len % 2, "v".repeat(len)));
    let stores = stores.collect::<String>();
    let [expected, got] = [real.addr(), addr(&embedded)].map(|server| {
        assert_eq!(told(server, &stores), "");
        listed(server)
    });
    assert!(expected.len() > 100 && expected.iter().any(|line| line.contains("cls=39 ")));
    assert_eq!(got, expected);
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
