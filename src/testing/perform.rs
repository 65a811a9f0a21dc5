//! Carrying out one command on the store, and wording its reply.

use std::time::Duration;

use super::command::{BAD_EXPTIME, BAD_FORMAT, Command, Header, MAX_KEY};
use super::stats::{self, Status};
use super::store::{NoCount, Store, Stored};
use super::{VERSION, dump};

pub(super) const UNKNOWN: &[u8] = b"ERROR\r\n";
pub(super) const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";

/// The reply to a command that needs no value; none when it is not known here.
pub(super) fn command(
    command: &Command,
    store: &mut Store,
    status: impl Fn() -> Status,
    now: Duration,
) -> Option<Vec<u8>> {
    let reply: &[u8] = match command {
        Command::Get { keys, with_cas, touch } => {
            return Some(values(store, keys, *with_cas, *touch, now));
        }
        Command::Delete { key } if store.delete(key, now) => b"DELETED\r\n",
        Command::Touch { key, exptime } if store.touch(key, *exptime, now) => b"TOUCHED\r\n",
        Command::Delete { .. } | Command::Touch { .. } => b"NOT_FOUND\r\n",
        Command::Count { key, by, down } => match store.count(key, *by, *down, now) {
            Ok(value) => return Some(line(&value.to_string())),
            Err(NoCount::Missing) => b"NOT_FOUND\r\n",
            Err(NoCount::NotANumber) => {
                b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
            }
        },
        Command::Flush { exptime } => {
            store.counters.cmd_flush += 1;
            let Some(exptime) = exptime else { return Some(line(BAD_EXPTIME)) };
            store.flush(*exptime, now);
            b"OK\r\n"
        }
        Command::Stats(args) => return stats::reply(store, args, &status(), now),
        Command::Metadump { classes } => return Some(dump::metadump(store, classes, now)),
        Command::Version => return Some(line(&format!("VERSION {VERSION}"))),
        Command::Verbosity => b"OK\r\n",
        Command::Refuse(words) => return Some(line(words)),
        Command::Store(_) | Command::Quit => b"",
        Command::Unknown => return None,
    };
    Some(reply.to_vec())
}

/// The reply to a store, `body` being the value and the two bytes behind it.
pub(super) fn store(
    store: &mut Store,
    header: &Header,
    mut body: Vec<u8>,
    now: Duration,
) -> Vec<u8> {
    // Counted even if the value is not ended properly.
    store.counters.cmd_set += 1;
    if !body.ends_with(b"\r\n") {
        return b"CLIENT_ERROR bad data chunk\r\n".to_vec();
    }
    body.truncate(header.len);
    match store.store(header, body, now) {
        Stored::Yes => b"STORED\r\n".to_vec(),
        Stored::No => b"NOT_STORED\r\n".to_vec(),
        Stored::Changed => b"EXISTS\r\n".to_vec(),
        Stored::Missing => b"NOT_FOUND\r\n".to_vec(),
    }
}

fn values(
    store: &mut Store,
    keys: &[Vec<u8>],
    with_cas: bool,
    touch: Option<i32>,
    now: Duration,
) -> Vec<u8> {
    let mut out = Vec::new();
    for key in keys {
        if key.len() > MAX_KEY {
            return line(BAD_FORMAT);
        }
        let Some(item) = store.fetch(key, touch, now) else { continue };
        let cas = if with_cas { format!(" {}", item.cas) } else { String::new() };
        let sizes = format!(" {} {}{cas}\r\n", item.flags, item.value.len());
        for part in [b"VALUE ", key.as_slice(), sizes.as_bytes(), &item.value, b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
    out.extend_from_slice(b"END\r\n");
    out
}

fn line(words: &str) -> Vec<u8> {
    format!("{words}\r\n").into_bytes()
}
