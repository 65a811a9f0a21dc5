//! What concerns the whole server: sizes of items, flushes, listings, the end of connections.

use super::{PIPELINED_DUMP, case, owned};
use crate::support::transcript::{CLOSED, Transcript};

pub(super) fn transcripts() -> Vec<Transcript> {
    let key250 = "k".repeat(250);
    // 48 + 8 + 1 + 2 bytes are memcached's own; the rest is for key and value.
    let (fits, large) = ("v".repeat(1_048_576 - 59 - 3), "v".repeat(1_048_576 - 59 - 2));
    let bad = "CLIENT_ERROR bad command line format\r\n";
    let too_large = "SERVER_ERROR object too large for cache\r\n";
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
                (
                    "set a 0 0 1\r\nv\r\nflush_all 2592001\r\nget a\r\n",
                    "STORED\r\nOK\r\nVALUE a 0 1\r\nv\r\nEND\r\n",
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
