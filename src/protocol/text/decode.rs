//! Lines of the text protocol's replies to events.

use super::super::event::{Event, Head};
use super::super::violation::excerpt;
use super::super::{Limits, Refusal, RefusalKind, Reply, Verb, Violation, scan};

/// What ends a line, and a value.
pub(crate) const TERMINATOR: &[u8] = b"\r\n";

/// How a TLS alert begins (RFC 8446, section 5.1): what a TLS server answers to a request in plain.
const TLS_ALERT: &[u8] = b"\x15\x03";

/// The first line, if it is all here and stands before a value as it should, and what is behind it.
#[inline]
pub(crate) fn head<'i>(
    verb: Verb,
    input: &'i [u8],
    limits: &Limits,
) -> Option<(Head<'i>, &'i [u8])> {
    let words = input.strip_prefix(b"VALUE ").filter(|_| verb.reads_keys())?;
    let (key, rest) = words.split_at_checked(memchr::memchr2(b' ', b'\n', words)?)?;
    let (flags, rest) = scan::leading_flags(rest.strip_prefix(b" ")?)?;
    let (len, rest) = scan::leading_number(rest.strip_prefix(b" ")?)?;
    let (cas, end) = match rest.strip_prefix(b" ") {
        Some(rest) => scan::leading_number(rest).map(|(token, rest)| (Some(token), rest))?,
        // The token must be there if the verb asks for it.
        None if matches!(verb, Verb::Gets | Verb::Gats) => return None,
        None => (None, rest),
    };
    let rest = end.strip_prefix(TERMINATOR)?;
    let line = input.get(..input.len() - end.len())?;
    (line.len() <= limits.max_line).then_some((Head { key, flags, len, cas, line }, rest))
}

/// The first line without its end, and the number of bytes up to and with its end; `None` if its end has not come
/// yet.
pub(crate) fn line<'i>(
    verb: Verb,
    input: &'i [u8],
    limits: &Limits,
) -> Result<Option<(&'i [u8], usize)>, Violation> {
    if input.starts_with(TLS_ALERT) {
        return Err(Violation::TlsAlert { verb });
    }
    let Some((line, used)) = scan::line(input, limits.max_line)? else { return Ok(None) };
    match line.strip_suffix(b"\r") {
        Some(line) => Ok(Some((line, used))),
        // The lines of a key dump, and only they, end without a carriage return.
        None if verb == Verb::DumpKeys => Ok(Some((line, used))),
        None => Err(Violation::UnexpectedReply { verb, line: excerpt(line) }),
    }
}

/// What the line says in answer to the verb, if it is no [`head`] of a value.
pub(crate) fn event(verb: Verb, line: &[u8]) -> Result<Event<'_>, Violation> {
    use Verb::{
        Add, Append, Cas, Decr, Delete, DumpKeys, FlushAll, Incr, Prepend, Replace, Set, Stats,
        StatsOrder, Touch, Verbosity,
    };
    let whole = |reply| Ok(Event::Whole(reply));
    match (verb, line) {
        (Set | Add | Replace | Append | Prepend | Cas, b"STORED") => whole(Reply::Stored),
        (Add | Replace | Append | Prepend, b"NOT_STORED") => whole(Reply::NotStored),
        (Cas, b"EXISTS") => whole(Reply::Exists),
        (Cas | Touch | Delete | Incr | Decr, b"NOT_FOUND") => whole(Reply::NotFound),
        (Touch, b"TOUCHED") => whole(Reply::Touched),
        (Delete, b"DELETED") => whole(Reply::Deleted),
        (FlushAll | Verbosity | StatsOrder, b"OK") | (StatsOrder, b"RESET") => whole(Reply::Done),
        (Stats | StatsOrder | DumpKeys, b"END") => Ok(Event::End),
        (verb, b"END") if verb.reads_keys() => Ok(Event::End),
        _ => worded(verb, line),
    }
}

/// Lines that hold more than fixed words.
fn worded(verb: Verb, line: &[u8]) -> Result<Event<'_>, Violation> {
    match verb {
        Verb::Get | Verb::Gets | Verb::Gat | Verb::Gats if line.starts_with(b"VALUE ") => {
            return Err(Violation::BadNumber { verb, line: excerpt(line) });
        }
        Verb::Incr | Verb::Decr if line.first().is_some_and(u8::is_ascii_digit) => {
            // A shortened number stays as long as it was stored, filled up with blanks.
            return scan::number(line.trim_ascii_end())
                .map(|number| Event::Whole(Reply::Number(number)))
                .ok_or_else(|| Violation::BadNumber { verb, line: excerpt(line) });
        }
        Verb::Version => {
            if let Some(version) = line.strip_prefix(b"VERSION ") {
                let version = String::from_utf8_lossy(version).into_owned();
                return Ok(Event::Whole(Reply::Version(version)));
            }
        }
        Verb::Stats | Verb::StatsOrder => {
            // ITEM and PREFIX lines: `stats cachedump` and `stats detail dump`.
            let rest =
                [&b"STAT "[..], b"ITEM ", b"PREFIX "].iter().find_map(|w| line.strip_prefix(*w));
            if let Some(rest) = rest {
                let (name, figure) = split_word(rest);
                return Ok(Event::Pair { name, figure: figure.unwrap_or_default() });
            }
        }
        Verb::DumpKeys if line.starts_with(b"key=") => return Ok(Event::Line(line)),
        _ => {}
    }
    refusal(verb, line)
        .map(Event::Refused)
        .ok_or_else(|| Violation::UnexpectedReply { verb, line: excerpt(line) })
}

/// The first word and, if there is a space, what stands behind it.
fn split_word(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b' ', text).and_then(|space| text.split_at_checked(space)) {
        Some((word, rest)) => (word, rest.get(1..)),
        None => (text, None),
    }
}

/// A server's "no", which any verb may get; the last two forms only a key dump.
fn refusal(verb: Verb, line: &[u8]) -> Option<Refusal> {
    let ends_word =
        |rest: &&[u8]| !rest.first().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let after = |word: &[u8]| line.strip_prefix(word).filter(ends_word);
    let kind = if let Some(why) = after(b"SERVER_ERROR") {
        match why {
            b" object too large for cache" => RefusalKind::TooLarge,
            why if why.starts_with(b" out of memory") => RefusalKind::OutOfMemory,
            _ => RefusalKind::Server,
        }
    } else if let Some(why) = after(b"CLIENT_ERROR") {
        match why {
            b" cannot increment or decrement non-numeric value" => RefusalKind::NotANumber,
            _ => RefusalKind::Client,
        }
    } else if let Some(why) = after(b"ERROR") {
        match why {
            b"" => RefusalKind::UnknownCommand,
            b" Too many open connections" => RefusalKind::TooManyConnections,
            _ => RefusalKind::Unusual,
        }
    } else if verb == Verb::DumpKeys && line.starts_with(b"BUSY") {
        RefusalKind::Busy
    } else if verb == Verb::DumpKeys && line.starts_with(b"BADCLASS") {
        RefusalKind::Client
    } else {
        return None;
    };
    Some(Refusal::new(kind, line))
}
