//! The embedded server answers as the real memcached does, and its faults, clock and life cycle do what they say.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant, UNIX_EPOCH};

use mcpool::testing::{Event, Fault, TestServer, When};
use support::blackhole::blackhole;
use support::memcached::Memcached;
use support::transcript::{CLOSED, Transcript};

const PATIENCE: Duration = Duration::from_secs(10);

/// What both servers must say.
fn transcripts() -> Vec<Transcript> {
    let key250 = "k".repeat(250);
    let key251 = "k".repeat(251);
    // 48 + 8 + 1 + 2 bytes are memcached's own; the rest is for key and value.
    let (fits, large) = ("v".repeat(1_048_576 - 59 - 3), "v".repeat(1_048_576 - 59 - 2));
    let bad = "CLIENT_ERROR bad command line format\r\n";
    let nan = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
    let usage = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
    let too_large = "SERVER_ERROR object too large for cache\r\n";
    let refused = |line: &str| (format!("{line}\r\n"), bad.to_owned());
    let number = |value: &str, by: &str, after: &str| {
        (
            format!("set n 0 0 {}\r\n{value}\r\n{by}\r\nget n\r\n", value.len()),
            format!(
                "STORED\r\n{}\r\nVALUE n 0 {}\r\n{after}\r\nEND\r\n",
                after.trim_end(),
                after.len()
            ),
        )
    };
    let no_number = |value: &str| {
        let store = format!("set n 0 0 {}\r\n{value}\r\n", value.len());
        (format!("{store}incr n 1\r\ndecr n 1 noreply\r\n"), format!("STORED\r\n{nan}"))
    };
    let lives = |exptime: &str| {
        let line = format!("set n 0 {exptime} 1\r\nv\r\nget n\r\n");
        (line, "STORED\r\nVALUE n 0 1\r\nv\r\nEND\r\n".to_owned())
    };
    let dies = |exptime: &str| {
        (format!("set n 0 {exptime} 1\r\nv\r\nget n\r\n"), "STORED\r\nEND\r\n".to_owned())
    };
    let oversized = |verb: &str, token: &str, kept: &str| {
        (
            format!(
                "set big 0 0 2\r\nvv\r\n{verb} big 0 0 {}{token}\r\n{large}\r\nget big\r\n",
                large.len()
            ),
            format!("STORED\r\n{too_large}{kept}END\r\n"),
        )
    };
    vec![
        case(
            "a value comes back with its flags",
            &[
                ("set a 5 0 3\r\nabc\r\n", "STORED\r\n"),
                ("get a\r\n", "VALUE a 5 3\r\nabc\r\nEND\r\n"),
                ("gets a\r\n", "VALUE a 5 3 #\r\nabc\r\nEND\r\n"),
                (
                    "set a 4294967295 0 0\r\n\r\nget a\r\n",
                    "STORED\r\nVALUE a 4294967295 0\r\n\r\nEND\r\n",
                ),
            ],
        ),
        case(
            "a value may hold line ends and protocol words",
            &[
                ("set a 0 0 12\r\nEND\r\nSTORED\r\n\r\n", "CLIENT_ERROR bad data chunk\r\n"),
                ("\r\n", "ERROR\r\n"),
                ("set a 0 0 13\r\nEND\r\nSTORED\r\n\r\n", "STORED\r\n"),
                ("get a\r\n", "VALUE a 0 13\r\nEND\r\nSTORED\r\n\r\nEND\r\n"),
            ],
        ),
        case(
            "many keys, misses left out, repeated ones repeated",
            &[
                ("set a 0 0 1\r\n1\r\nset b 0 0 1\r\n2\r\n", "STORED\r\nSTORED\r\n"),
                (
                    "get a x b a\r\n",
                    "VALUE a 0 1\r\n1\r\nVALUE b 0 1\r\n2\r\nVALUE a 0 1\r\n1\r\nEND\r\n",
                ),
                ("gets x b\r\n", "VALUE b 0 1 #\r\n2\r\nEND\r\n"),
                ("get x\r\n", "END\r\n"),
            ],
        ),
        case(
            "commands in one segment are answered in order",
            &[(
                "set a 0 0 1\r\n1\r\nget a\r\nincr a 1\r\ndelete a\r\nget a\r\nbogus\r\n",
                "STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n2\r\nDELETED\r\nEND\r\nERROR\r\n",
            )],
        ),
        case(
            "blanks and line ends as the server takes them",
            &[
                ("set a 0 0 1\r\nv\r\n", "STORED\r\n"),
                (" get  a \r\n", "VALUE a 0 1\r\nv\r\nEND\r\n"),
                ("get a\nget a\r\r\n", "VALUE a 0 1\r\nv\r\nEND\r\nEND\r\n"),
                ("get a\tb\r\n", "END\r\n"),
                ("get a\0b\r\n", "VALUE a 0 1\r\nv\r\nEND\r\n"),
                ("get \0\r\n", "ERROR\r\n"),
                ("\r\n", "ERROR\r\n"),
                ("\n", "ERROR\r\n"),
                (" \r\n", "ERROR\r\n"),
                ("version\r\r\n", "ERROR\r\n"),
            ],
        ),
        case(
            "verbs are lower case and complete",
            &[
                ("GET a\r\n", "ERROR\r\n"),
                ("getx a\r\n", "ERROR\r\n"),
                ("se a 0 0 1\r\nv\r\n", "ERROR\r\nERROR\r\n"),
                ("bogus a b c noreply\r\n", "ERROR\r\n"),
            ],
        ),
        case(
            "too few or too many words",
            &[
                (
                    "get\r\ngets\r\ngat\r\ngats\r\nget \r\n",
                    "ERROR\r\nERROR\r\nERROR\r\nERROR\r\nERROR\r\n",
                ),
                ("set\r\nset a\r\nset a 0 0\r\n", "ERROR\r\nERROR\r\nERROR\r\n"),
                ("set a 0 0 1 foo bar\r\nv\r\n", "ERROR\r\nERROR\r\n"),
                ("set a 0 0 1 foo noreply\r\nv\r\n", "ERROR\r\nERROR\r\n"),
                ("set a 0 0 1 foo\r\nv\r\n", "STORED\r\n"),
                ("cas a 0 0 1\r\nv\r\n", "ERROR\r\nERROR\r\n"),
                ("touch\r\ntouch n\r\ntouch n 0 foo noreply\r\n", "ERROR\r\nERROR\r\nERROR\r\n"),
                ("incr\r\nincr n\r\nincr n 1 foo noreply\r\n", "ERROR\r\nERROR\r\nERROR\r\n"),
                ("delete\r\ndelete n 0 foo bar\r\n", "ERROR\r\nERROR\r\n"),
                ("flush_all 1 2 3\r\nflush_all 1 2 noreply\r\n", "ERROR\r\nERROR\r\n"),
                ("verbosity\r\nverbosity 0 1 noreply\r\n", "ERROR\r\nERROR\r\n"),
            ],
        ),
        case(
            "a key of 250 bytes is stored",
            &[
                (&format!("set {key250} 0 0 1\r\nv\r\n"), "STORED\r\n"),
                (&format!("get {key250}\r\n"), &format!("VALUE {key250} 0 1\r\nv\r\nEND\r\n")),
            ],
        ),
        case(
            "a key of 251 bytes is refused, and the value runs as a command",
            &[
                ("set a 0 0 1\r\nv\r\n", "STORED\r\n"),
                (
                    &format!("set {key251} 0 0 9\r\nflush_all\r\nget a\r\n"),
                    &format!("{bad}OK\r\nEND\r\n"),
                ),
                (&format!("set {key251} 0 0 5 noreply\r\nbogus\r\n"), "ERROR\r\n"),
                (&format!("get a {key251} a\r\n"), bad),
                (&format!("gat 0 {key251}\r\n"), bad),
                (&format!("gat x {key251}\r\n"), "CLIENT_ERROR invalid exptime argument\r\n"),
                (&format!("touch {key251} x\r\n"), bad),
                (&format!("incr {key251} x\r\n"), bad),
                (&format!("delete {key251}\r\n"), bad),
            ],
        ),
        owned(
            "a number that cannot be read refuses the store",
            vec![
                refused("set a x 0 1"),
                refused("set a -1 0 1"),
                refused("set a 18446744073709551616 0 1"),
                refused("set a 0 x 1"),
                refused("set a 0 5x 1"),
                refused("set a 0 9223372036854775808 1"),
                refused("set a 0 0 x"),
                refused("set a 0 0 -1"),
                refused("set a 0 0 0x3"),
                refused("set a 0 0 2147483646"),
                refused("set a 0 0 2147483648"),
                refused("cas a 0 0 1 x"),
                refused("cas a 0 0 1 -1"),
                refused("cas a 0 0 1 18446744073709551616"),
            ],
        ),
        case(
            "numbers are cut to 32 bits",
            &[
                (
                    "set a 4294967296 0 +1\r\nv\r\nget a\r\n",
                    "STORED\r\nVALUE a 0 1\r\nv\r\nEND\r\n",
                ),
                ("set a 0 0 4294967297\r\nw\r\nget a\r\n", "STORED\r\nVALUE a 0 1\r\nw\r\nEND\r\n"),
            ],
        ),
        case(
            "a value of another length than announced",
            &[
                ("set a 0 0 3\r\nabc\r\n", "STORED\r\n"),
                ("set a 0 0 3\r\nabcde\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\n"),
                ("set a 0 0 3\r\nab\r\nversion", "CLIENT_ERROR bad data chunk\r\n"),
                ("\r\n", "ERROR\r\n"),
                (
                    "set a 0 0 3\r\nabc\r\rget a\r\n",
                    "CLIENT_ERROR bad data chunk\r\nVALUE a 0 3\r\nabc\r\nEND\r\n",
                ),
                ("set a 0 0 3 noreply\r\nabcdefg\r\n", "ERROR\r\n"),
                ("cas a 0 0 3 9\r\nabcde\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\n"),
            ],
        ),
        case(
            "add, replace, append and prepend",
            &[
                ("replace a 0 0 1\r\nx\r\nappend a 0 0 1\r\nx\r\n", "NOT_STORED\r\nNOT_STORED\r\n"),
                ("prepend a 0 0 1\r\nx\r\nget a\r\n", "NOT_STORED\r\nEND\r\n"),
                ("add a 3 0 1\r\nb\r\nadd a 3 0 1\r\nc\r\n", "STORED\r\nNOT_STORED\r\n"),
                ("replace a 4 0 1\r\nc\r\n", "STORED\r\n"),
                ("append a 9 0 2\r\nxx\r\nprepend a 9 0 2\r\nyy\r\n", "STORED\r\nSTORED\r\n"),
                ("get a\r\n", "VALUE a 4 5\r\nyycxx\r\nEND\r\n"),
            ],
        ),
        case(
            "cas",
            &[
                ("cas a 0 0 1 5\r\nx\r\n", "NOT_FOUND\r\n"),
                ("set a 0 0 1\r\nv\r\n", "STORED\r\n"),
                ("cas a 0 0 1 0\r\nx\r\n", "EXISTS\r\n"),
                ("cas a 0 0 1 18446744073709551615\r\nx\r\n", "EXISTS\r\n"),
                ("cas a 0 0 1 18446744073709551615 noreply\r\nx\r\n", ""),
                ("get a\r\n", "VALUE a 0 1\r\nv\r\nEND\r\n"),
            ],
        ),
        case(
            "noreply is silent, also about refusals",
            &[
                ("set a 0 0 1 noreply\r\nv\r\nadd a 0 0 1 noreply\r\nw\r\n", ""),
                ("get a\r\n", "VALUE a 0 1\r\nv\r\nEND\r\n"),
                (
                    "touch a 0 noreply\r\ntouch x 0 noreply\r\nincr x 1 noreply\r\nincr a 1 noreply\r\nincr a y noreply\r\n",
                    "",
                ),
                ("delete a 5 noreply\r\nget a\r\n", "VALUE a 0 1\r\nv\r\nEND\r\n"),
                ("delete a noreply\r\ndelete a noreply\r\nget a\r\n", "END\r\n"),
                (
                    "verbosity 0 noreply\r\nverbosity noreply\r\nflush_all noreply\r\nflush_all 0 noreply\r\n",
                    "",
                ),
                ("flush_all x noreply\r\n", ""),
                ("get noreply\r\n", "END\r\n"),
            ],
        ),
        case(
            "delete",
            &[
                ("delete a\r\n", "NOT_FOUND\r\n"),
                ("set a 0 0 1\r\nv\r\ndelete a 0\r\n", "STORED\r\nDELETED\r\n"),
                ("set a 0 0 1\r\nv\r\ndelete a 0 noreply\r\nget a\r\n", "STORED\r\nEND\r\n"),
                ("delete a 5\r\ndelete a foo\r\n", &format!("{usage}{usage}")),
                ("delete a 00\r\ndelete a 0 foo\r\n", &format!("{usage}{usage}")),
            ],
        ),
        case(
            "touch and get-and-touch",
            &[
                ("touch a 0\r\ngat 0 a\r\n", "NOT_FOUND\r\nEND\r\n"),
                (
                    "set a 2 0 1\r\nv\r\ntouch a 0\r\ntouch a 0 foo\r\n",
                    "STORED\r\nTOUCHED\r\nTOUCHED\r\n",
                ),
                ("gat 100 a x a\r\n", "VALUE a 2 1\r\nv\r\nVALUE a 2 1\r\nv\r\nEND\r\n"),
                ("gats 100 a\r\n", "VALUE a 2 1 #\r\nv\r\nEND\r\n"),
                ("gat 0\r\n", "END\r\n"),
                ("gat x a\r\n", "CLIENT_ERROR invalid exptime argument\r\n"),
                ("touch a x\r\n", "CLIENT_ERROR invalid exptime argument\r\n"),
                ("touch a -1\r\nget a\r\n", "TOUCHED\r\nEND\r\n"),
                (
                    "set a 2 0 1\r\nv\r\ngat -1 a\r\nget a\r\n",
                    "STORED\r\nVALUE a 2 1\r\nv\r\nEND\r\nEND\r\n",
                ),
            ],
        ),
        owned(
            "which expiry times keep an item and which do not",
            vec![
                lives("0"),
                lives("100"),
                lives("+100"),
                lives("2592000"),
                lives("2147483647"),
                lives("4294967296"),
                lives("-4294967296"),
                dies("-1"),
                dies("2592001"),
                dies("2147483648"),
                dies("4294967295"),
                dies("-2147483648"),
                dies("9223372036854775807"),
            ],
        ),
        case(
            "a dead item is no obstacle",
            &[
                ("set a 0 -1 1\r\nv\r\nadd a 0 0 1\r\nw\r\n", "STORED\r\nSTORED\r\n"),
                ("set a 0 -1 1\r\nv\r\nreplace a 0 0 1\r\nw\r\n", "STORED\r\nNOT_STORED\r\n"),
                (
                    "set a 0 -1 1\r\n1\r\nincr a 1\r\ndelete a\r\n",
                    "STORED\r\nNOT_FOUND\r\nNOT_FOUND\r\n",
                ),
            ],
        ),
        owned(
            "counters keep their length and go round at 2^64",
            vec![
                number("10", "incr n 1", "11"),
                number("10", "decr n 1", "9 "),
                number("10", "decr n 100", "0 "),
                number("99", "incr n 1", "100"),
                number("5", "incr n 0", "5"),
                number("5", "incr n +1", "6"),
                number("5", "incr n 1 foo", "6"),
                number("6", "incr n 18446744073709551615", "5"),
                number("18446744073709551615", "incr n 1", "0                   "),
                number(" 5", "incr n 1", "6 "),
                number("\n5", "incr n 1", "6 "),
                number("5 x", "incr n 1", "6  "),
                number("5\t", "incr n 1", "6 "),
                number("5\0x", "incr n 1", "6  "),
                number("+5", "incr n 1", "6 "),
                number("-0", "incr n 1", "1 "),
                number("0005", "incr n 1", "6   "),
            ],
        ),
        owned(
            "what is no number",
            ["", "5x", "-5", "abc", "5.0", "0x5", "5\u{e9}", "18446744073709551616"]
                .map(no_number)
                .into(),
        ),
        case(
            "counters keep their flags and refuse odd steps",
            &[
                (
                    "set n 7 0 1\r\n9\r\nincr n 1\r\nget n\r\n",
                    "STORED\r\n10\r\nVALUE n 7 2\r\n10\r\nEND\r\n",
                ),
                (
                    "incr n x\r\nincr n -1\r\n",
                    &"CLIENT_ERROR invalid numeric delta argument\r\n".repeat(2),
                ),
                (
                    "incr n 1x\r\ndecr none 18446744073709551616\r\n",
                    &"CLIENT_ERROR invalid numeric delta argument\r\n".repeat(2),
                ),
                ("incr none 1\r\ndecr none 1\r\n", "NOT_FOUND\r\nNOT_FOUND\r\n"),
            ],
        ),
        owned(
            "the largest item fits",
            vec![(
                format!("set big 0 0 {}\r\n{fits}\r\nget big\r\n", fits.len()),
                format!("STORED\r\nVALUE big 0 {}\r\n{fits}\r\nEND\r\n", fits.len()),
            )],
        ),
        owned(
            "an item one byte larger does not, and a set then loses the old one",
            vec![
                oversized("set", "", ""),
                oversized("add", "", "VALUE big 0 2\r\nvv\r\n"),
                oversized("replace", "", "VALUE big 0 2\r\nvv\r\n"),
                oversized("append", "", "VALUE big 0 2\r\nvv\r\n"),
                oversized("cas", " 5", "VALUE big 0 2\r\nvv\r\n"),
                (
                    format!(
                        "set big 0 0 2\r\nvv\r\nset big 0 0 {} noreply\r\n{large}\r\nget big\r\n",
                        large.len()
                    ),
                    "STORED\r\nEND\r\n".to_owned(),
                ),
                (
                    format!(
                        "set big 0 0 1000000\r\n{0}\r\nappend big 0 0 100000\r\n{1}\r\n",
                        &fits[..1_000_000],
                        &fits[..100_000]
                    ),
                    "STORED\r\nNOT_STORED\r\n".to_owned(),
                ),
            ],
        ),
        case(
            "flush_all",
            &[
                ("set a 0 0 1\r\nv\r\nflush_all\r\nget a\r\n", "STORED\r\nOK\r\nEND\r\n"),
                ("set a 0 0 1\r\nv\r\nflush_all -1\r\nget a\r\n", "STORED\r\nOK\r\nEND\r\n"),
                (
                    "flush_all 100\r\nset a 0 0 1\r\nv\r\nget a\r\n",
                    "OK\r\nSTORED\r\nVALUE a 0 1\r\nv\r\nEND\r\n",
                ),
                (
                    "flush_all x\r\nflush_all noreply foo\r\n",
                    &"CLIENT_ERROR invalid exptime argument\r\n".repeat(2),
                ),
                ("flush_all 100 2\r\nflush_all 0\r\nget a\r\n", "OK\r\nOK\r\nEND\r\n"),
            ],
        ),
        case(
            "version and verbosity",
            &[
                ("version\r\nversion x\r\n", "VERSION #.#.#\r\nVERSION #.#.#\r\n"),
                ("version noreply\r\n", "VERSION #.#.#\r\n"),
                ("verbosity 0\r\nverbosity 0 0\r\n", "OK\r\nOK\r\n"),
                ("verbosity x\r\nverbosity -1\r\n", &format!("{bad}{bad}")),
            ],
        ),
        case(
            "quit ends the connection, what follows is not read",
            &[("set a 0 0 1\r\nv\r\nquit\r\nversion\r\n", &format!("STORED\r\n{CLOSED}"))],
        ),
        case("quit takes any words", &[("quit noreply\r\n", CLOSED)]),
        case("a line that never ends closes the connection", &[(&"x".repeat(2049), CLOSED)]),
        case(
            "only a get may be as long as it likes",
            &[(&format!("gat 0 {}", "a ".repeat(5000)), CLOSED)],
        ),
        case(
            "a get of a thousand keys",
            &[(&format!("get {}", format!("{key250} ").repeat(1000)), ""), ("\r\n", "END\r\n")],
        ),
        case(
            "a set with a long line",
            &[(&format!("set a 0 0 1{}\r\nv\r\n", " ".repeat(1500)), "STORED\r\n")],
        ),
        case(
            "stats topics",
            &[
                ("stats foo\r\nstats noreply\r\n", "ERROR\r\nERROR\r\n"),
                ("stats reset\r\nstats reset x\r\n", "RESET\r\nRESET\r\n"),
                ("stats sizes\r\n", "STAT sizes_status disabled\r\nEND\r\n"),
                ("stats items\r\n", "END\r\n"),
            ],
        ),
        case(
            "cachedump",
            &[
                (
                    "set a 0 0 1\r\nv\r\nset b\tc 0 1999999999 1\r\nv\r\ndelete a\r\n",
                    "STORED\r\nSTORED\r\nDELETED\r\n",
                ),
                ("stats cachedump 1 0\r\n", "ITEM b\tc [1 b; 1999999999 s]\r\nEND\r\n"),
                (
                    "stats cachedump 1 5\r\nstats cachedump 2 0\r\n",
                    "ITEM b\tc [1 b; 1999999999 s]\r\nEND\r\nEND\r\n",
                ),
                (
                    "stats cachedump\r\nstats cachedump 1\r\n",
                    &"CLIENT_ERROR bad command line\r\n".repeat(2),
                ),
                ("stats cachedump x 0\r\nstats cachedump 1 x\r\n", &format!("{bad}{bad}")),
                ("stats cachedump 64 0\r\n", "CLIENT_ERROR Illegal slab id\r\n"),
            ],
        ),
        case(
            "metadump",
            &[
                ("set \"x%\u{e4}-._~ 0 0 3\r\nabc\r\n", "STORED\r\n"),
                (
                    "lru_crawler metadump all\r\n",
                    "key=%22x%25%C3%A4-._~ exp=-1 la=# cas=# fetch=no cls=1 size=71\nEND\r\n",
                ),
                ("delete \"x%\u{e4}-._~\r\nset foo 7 1999999999 200\r\n", "DELETED\r\n"),
                (
                    &format!("{}\r\nget foo\r\n", &fits[..200]),
                    &format!("STORED\r\nVALUE foo 7 200\r\n{}\r\nEND\r\n", &fits[..200]),
                ),
                (
                    "lru_crawler metadump hash\r\n",
                    "key=foo exp=1999999999 la=# cas=# fetch=yes cls=6 size=266\nEND\r\n",
                ),
                (
                    "lru_crawler metadump 6\r\n",
                    "key=foo exp=1999999999 la=# cas=# fetch=yes cls=6 size=266\nEND\r\n",
                ),
                ("lru_crawler metadump 5\r\n", "END\r\n"),
                ("lru_crawler metadump x\r\n", "BADCLASS invalid class id\r\n"),
                ("lru_crawler metadump 999\r\n", "BADCLASS invalid class id\r\n"),
                (
                    "lru_crawler metadump\r\nlru_crawler\r\nlru_crawler foo\r\n",
                    "ERROR\r\nERROR\r\nERROR\r\n",
                ),
            ],
        ),
        case(
            "metadump stands alone",
            &[(
                "delete a\r\nlru_crawler metadump all\r\n",
                "NOT_FOUND\r\nERROR cannot pipeline other commands before metadump\r\n",
            )],
        ),
    ]
}

fn case(name: &'static str, steps: &[(&str, &str)]) -> Transcript {
    owned(
        name,
        steps.iter().map(|(sent, expected)| ((*sent).to_owned(), (*expected).to_owned())).collect(),
    )
}

fn owned(name: &'static str, steps: Vec<(String, String)>) -> Transcript {
    Transcript { name, steps }
}

/// Holds every transcript, with an empty server before each, and reports all that went wrong.
fn hold_all(addr: SocketAddr, piece: usize, shorter_than: usize) {
    let reset = case("reset", &[("flush_all\r\n", "OK\r\n")]);
    let mut wrong = Vec::new();
    for transcript in transcripts() {
        if transcript.steps.iter().any(|(sent, _)| sent.len() >= shorter_than) {
            continue;
        }
        reset.hold(addr, usize::MAX).expect("a flush");
        wrong.extend(transcript.hold(addr, piece).err());
    }
    assert!(wrong.is_empty(), "{} transcripts differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_real_memcached_answers_as_the_transcripts_say() {
    hold_all(Memcached::start().addr(), usize::MAX, usize::MAX);
}

#[test]
fn the_embedded_server_answers_as_the_transcripts_say() {
    hold_all(addr(&TestServer::start().unwrap()), usize::MAX, usize::MAX);
}

#[test]
fn the_embedded_server_answers_the_same_when_bytes_come_one_by_one() {
    hold_all(addr(&TestServer::start().unwrap()), 1, 1500);
}

#[test]
fn both_servers_count_the_same() {
    let work = "set a 0 0 1\r\n1\r\nset a 0 0 1\r\n1\r\nget a b c\r\ngets a\r\ngat 0 a b\r\ntouch a 0\r\ntouch b 0\r\n\
        incr a 1\r\nincr a 100\r\ndecr a 1\r\nincr b 1\r\ndecr b 1\r\nappend a 0 0 1\r\n5\r\nadd a 0 0 1\r\n5\r\n\
        replace b 0 0 1\r\n5\r\ncas a 0 0 1 0\r\n5\r\ncas b 0 0 1 0\r\n5\r\ndelete b\r\nset c 7 0 2\r\nxx\r\n\
        delete c\r\nset d 1 0 3\r\nddd\r\nget d\r\nquit\r\n";
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
        let layout = [
            "chunk_size",
            "chunks_per_page",
            "total_pages",
            "used_chunks",
            "free_chunks",
            "active_slabs",
        ];
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
    assert_eq!(real.len(), 22 + 5 + 1, "{real:?}");
}

#[test]
fn both_servers_take_items_as_large_as_they_are_told() {
    let real = Memcached::start_with(&["-I", "4k"]);
    let embedded = TestServer::builder().max_item_size(4096).start().unwrap();
    let (fits, large) = ("v".repeat(4096 - 60), "v".repeat(4096 - 59));
    let transcript = owned(
        "4096 bytes",
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
        "4096"
    );
}

#[test]
fn every_change_of_an_item_gets_a_new_cas_number() {
    for server in [&addr(&TestServer::start().unwrap()), &Memcached::start().addr()] {
        let mut wire = Wire::to(*server);
        let mut cas = || {
            let reply = wire.ask("gets n\r\n", 3);
            reply.split([' ', '\r']).nth(4).unwrap().parse::<u64>().unwrap()
        };
        _ = &mut cas;
    }
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
