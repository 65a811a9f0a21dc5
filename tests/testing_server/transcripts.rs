//! What a memcached says to what: the table that the embedded and the real one are held to.

use crate::support::transcript::{CLOSED, Transcript};

/// The one transcript that depends on its commands coming in one segment.
pub(crate) const PIPELINED_DUMP: &str = "metadump stands alone";

/// What both servers must say.
pub(crate) fn transcripts() -> Vec<Transcript> {
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
                (
                    "set a 0 0 12\r\nEND\r\nSTORED\r\n\r\n",
                    "CLIENT_ERROR bad data chunk\r\nERROR\r\n",
                ),
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
            vec![
                (
                    format!("set big 0 0 {}\r\n{fits}\r\nget big\r\n", fits.len()),
                    format!("STORED\r\nVALUE big 0 {}\r\n{fits}\r\nEND\r\n", fits.len()),
                ),
                (
                    "lru_crawler metadump all\r\n".to_owned(),
                    "key=big exp=-1 la=# cas=# fetch=yes cls=39 size=1048576\nEND\r\n".to_owned(),
                ),
            ],
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
            ],
        ),
        case(
            "cachedump wants a class and a number",
            &[
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
                ("delete \"x%\u{e4}-._~\r\nset foo 7 1999999999 200\r\n", ""),
                (
                    &format!("{}\r\nget foo\r\n", &fits[..200]),
                    &format!("DELETED\r\nSTORED\r\nVALUE foo 7 200\r\n{}\r\nEND\r\n", &fits[..200]),
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
            PIPELINED_DUMP,
            &[(
                "delete a\r\nlru_crawler metadump all\r\n",
                "NOT_FOUND\r\nERROR cannot pipeline other commands before metadump\r\n",
            )],
        ),
    ]
}

pub(crate) fn case(name: &'static str, steps: &[(&str, &str)]) -> Transcript {
    owned(
        name,
        steps.iter().map(|(sent, expected)| ((*sent).to_owned(), (*expected).to_owned())).collect(),
    )
}

pub(crate) fn owned(name: &'static str, steps: Vec<(String, String)>) -> Transcript {
    Transcript { name, steps }
}
