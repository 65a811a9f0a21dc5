//! How command lines are read: words, keys, numbers, lengths.

use super::{case, owned};
use crate::support::transcript::Transcript;

pub(super) fn transcripts() -> Vec<Transcript> {
    let key250 = "k".repeat(250);
    let key251 = "k".repeat(251);
    let bad = "CLIENT_ERROR bad command line format\r\n";
    let refused = |line: &str| (format!("{line}\r\n"), bad.to_owned());
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
    ]
}
