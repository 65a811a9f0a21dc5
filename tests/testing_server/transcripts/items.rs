//! What happens to items: stores, cas, deletes, expiry, counters.

use super::{case, owned};
use crate::support::transcript::Transcript;

pub(super) fn transcripts() -> Vec<Transcript> {
    let nan = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
    let usage = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
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
    vec![
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
    ]
}
