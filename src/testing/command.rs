//! One command line taken apart: what is asked for, or which error it earns.

use super::number::{signed, unsigned};

/// The longest key that memcached takes.
pub(super) const MAX_KEY: usize = 250;
/// What a longer one earns.
pub(super) const BAD_FORMAT: &str = "CLIENT_ERROR bad command line format";
/// What a time that is no number earns.
pub(super) const BAD_EXPTIME: &str = "CLIENT_ERROR invalid exptime argument";

const ERROR: &str = "ERROR";
const BAD_DELETE: &str = "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]";
const BAD_DELTA: &str = "CLIENT_ERROR invalid numeric delta argument";

/// A line's meaning, and whether its sender wants no reply.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) command: Command,
    pub(super) noreply: bool,
}

#[derive(Debug)]
pub(super) enum Command {
    Get {
        /// Of any length: those before one that is too long are still looked up.
        keys: Vec<Vec<u8>>,
        with_cas: bool,
        touch: Option<i32>,
    },
    Store(Header),
    Delete {
        key: Vec<u8>,
    },
    Touch {
        key: Vec<u8>,
        exptime: i32,
    },
    Count {
        key: Vec<u8>,
        by: u64,
        down: bool,
    },
    Flush {
        /// None when it is no number; counted all the same.
        exptime: Option<i32>,
    },
    Stats(Vec<Vec<u8>>),
    Metadump {
        classes: Vec<u8>,
    },
    Version,
    Verbosity,
    Quit,
    /// Answered with this line.
    Refuse(&'static str),
    /// No command known here.
    Unknown,
}

/// The line of a store, whose value follows.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) mode: Mode,
    pub(super) key: Vec<u8>,
    pub(super) flags: u32,
    pub(super) exptime: i32,
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

/// The first word of a line.
pub(super) fn verb(line: &[u8]) -> &[u8] {
    words(line).next().unwrap_or_default()
}

pub(super) fn parse(line: &[u8]) -> Request {
    let args: Vec<&[u8]> = words(line).skip(1).collect();
    let verb = verb(line);
    if !takes(verb, args.len()) {
        return Request { command: Command::Refuse(ERROR), noreply: false };
    }
    let noreply = can_be_quiet(verb) && args.last() == Some(&b"noreply".as_slice());
    let command = command(verb, &args, noreply).unwrap_or_else(Command::Refuse);
    Request { command, noreply }
}

/// Words stand between blanks only, and the line ends at a NUL.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
}

/// Whether the verb may have so many arguments; one too many is tolerated where memcached looks for `noreply`.
fn takes(verb: &[u8], args: usize) -> bool {
    match verb {
        b"" => false,
        b"get" | b"gets" | b"gat" | b"gats" => args >= 1,
        b"set" | b"add" | b"replace" | b"append" | b"prepend" => (4..=5).contains(&args),
        b"cas" => (5..=6).contains(&args),
        b"touch" | b"incr" | b"decr" => (2..=3).contains(&args),
        b"delete" => (1..=3).contains(&args),
        b"flush_all" => args <= 2,
        b"verbosity" => (1..=2).contains(&args),
        b"lru_crawler" => args == 2,
        _ => true,
    }
}

fn can_be_quiet(verb: &[u8]) -> bool {
    matches!(
        verb,
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" | b"delete" | b"touch"
    ) || matches!(verb, b"incr" | b"decr" | b"flush_all" | b"verbosity")
}

fn command(verb: &[u8], args: &[&[u8]], noreply: bool) -> Result<Command, &'static str> {
    let command = match (verb, args) {
        (b"get" | b"gets", keys) => {
            Command::Get { keys: owned(keys), with_cas: verb == b"gets", touch: None }
        }
        (b"gat" | b"gats", [exptime, keys @ ..]) => {
            let touch = Some(seconds(exptime).ok_or(BAD_EXPTIME)?);
            Command::Get { keys: owned(keys), with_cas: verb == b"gats", touch }
        }
        (b"set", _) => store(Mode::Set, args)?,
        (b"add", _) => store(Mode::Add, args)?,
        (b"replace", _) => store(Mode::Replace, args)?,
        (b"append", _) => store(Mode::Append, args)?,
        (b"prepend", _) => store(Mode::Prepend, args)?,
        (b"cas", [.., token]) if args.len() == 5 => store(cas(token)?, args)?,
        (b"cas", [.., token, _]) => store(cas(token)?, args)?,
        (b"touch", [name, exptime, ..]) => {
            Command::Touch { key: key(name)?, exptime: seconds(exptime).ok_or(BAD_EXPTIME)? }
        }
        (b"incr" | b"decr", [name, by, ..]) => Command::Count {
            key: key(name)?,
            by: unsigned(by).ok_or(BAD_DELTA)?,
            down: verb == b"decr",
        },
        // Long ago a time stood behind the key; a zero is still let through.
        (b"delete", [name]) => Command::Delete { key: key(name)? },
        (b"delete", [name, b"0"] | [name, b"noreply"] | [name, b"0", b"noreply"]) => {
            Command::Delete { key: key(name)? }
        }
        (b"delete", _) => Command::Refuse(BAD_DELETE),
        (b"flush_all", []) => Command::Flush { exptime: Some(0) },
        (b"flush_all", [_]) if noreply => Command::Flush { exptime: Some(0) },
        (b"flush_all", [exptime, ..]) => Command::Flush { exptime: seconds(exptime) },
        (b"verbosity", [level, ..]) => {
            unsigned(level).map(|_| Command::Verbosity).ok_or(BAD_FORMAT)?
        }
        (b"stats", _) => Command::Stats(owned(args)),
        (b"lru_crawler", [b"metadump", classes]) => Command::Metadump { classes: classes.to_vec() },
        (b"version", _) => Command::Version,
        (b"quit", _) => Command::Quit,
        _ => Command::Unknown,
    };
    Ok(command)
}

fn store(mode: Mode, args: &[&[u8]]) -> Result<Command, &'static str> {
    let [name, flags, exptime, len, ..] = args else { return Err(ERROR) };
    let key = key(name)?;
    // memcached cuts what it reads here to 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "the server does the same")]
    let flags = unsigned(flags).ok_or(BAD_FORMAT)? as u32;
    let exptime = seconds(exptime).ok_or(BAD_FORMAT)?;
    let len = seconds(len).filter(|len| (0..=i32::MAX - 2).contains(len)).ok_or(BAD_FORMAT)?;
    let len = usize::try_from(len).map_err(|_| BAD_FORMAT)?;
    Ok(Command::Store(Header { mode, key, flags, exptime, len }))
}

fn cas(token: &[u8]) -> Result<Mode, &'static str> {
    unsigned(token).map(Mode::Cas).ok_or(BAD_FORMAT)
}

fn owned(words: &[&[u8]]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.to_vec()).collect()
}

fn key(word: &[u8]) -> Result<Vec<u8>, &'static str> {
    if word.len() > MAX_KEY { Err(BAD_FORMAT) } else { Ok(word.to_vec()) }
}

/// A signed number cut to 32 bits, as memcached does with times and lengths.
fn seconds(word: &[u8]) -> Option<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "the server does the same")]
    signed(word).map(|seconds| seconds as i32)
}
