//! Requests to the text protocol's command lines.

use super::super::output::Output;
use super::super::{Request, StoreVerb};

/// Longer key lists become several lines.
pub(super) const MAX_KEYS_PER_LINE: usize = 100;
/// A line of a longer get is split, so that it fits the first read buffer of old servers (2048 bytes).
const MAX_GET_LINE: usize = 2000;
/// Old servers hang up on any line over 1024 bytes that is no get or gets (newer ones over 2048).
const MAX_LINE: usize = 1000;

/// Writes the request's lines and value.
pub(crate) fn encode<'a>(request: &Request<'_, 'a>, out: &mut Output<'a>) {
    let name = request.verb().name().as_bytes();
    match *request {
        Request::Store { verb, key, flags, exptime, value } => {
            out.put(name);
            word(key, out);
            number(flags, out);
            number(exptime, out);
            number(value.len(), out);
            if let StoreVerb::Cas(token) = verb {
                number(token, out);
            }
            out.put(b"\r\n");
            out.put_value(value);
        }
        Request::Get { keys, .. } => return lines(name, None, keys, MAX_GET_LINE, out),
        Request::GetAndTouch { keys, exptime, .. } => {
            return lines(name, Some(exptime), keys, MAX_LINE, out);
        }
        Request::Touch { key, exptime } => {
            out.put(name);
            word(key, out);
            number(exptime, out);
        }
        Request::Delete { key } => {
            out.put(name);
            word(key, out);
        }
        Request::Incr { key, by } | Request::Decr { key, by } => {
            out.put(name);
            word(key, out);
            number(by, out);
        }
        Request::Stats { argument } => {
            out.put(name);
            if let Some(argument) = argument {
                word(argument.as_str().as_bytes(), out);
            }
        }
        Request::FlushAll { delay } => {
            out.put(name);
            if let Some(delay) = delay {
                number(delay, out);
            }
        }
        Request::Verbosity { level } => {
            out.put(name);
            number(level, out);
        }
        Request::DumpKeys => {
            out.put(name);
            word(b"all", out);
        }
        Request::Version => out.put(name),
    }
    out.put(b"\r\n");
}

/// The keys in as many lines as the limits ask for.
fn lines(name: &[u8], exptime: Option<i32>, keys: &[&[u8]], limit: usize, out: &mut Output<'_>) {
    let mut rest = keys;
    // All, if it is one line without an expiry time; else nearly all.
    out.reserve(keys.iter().fold(name.len() + 2, |bytes, key| bytes + 1 + key.len()));
    loop {
        let start = out.len();
        out.put(name);
        if let Some(exptime) = exptime {
            number(exptime, out);
        }
        let mut taken = 0;
        for key in rest.iter().take(MAX_KEYS_PER_LINE) {
            if taken > 0 && out.len() - start + 1 + key.len() > limit {
                break;
            }
            word(key, out);
            taken += 1;
        }
        out.put(b"\r\n");
        rest = rest.get(taken..).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
    }
}

#[inline]
fn word(text: &[u8], out: &mut Output<'_>) {
    out.put(b" ");
    out.put(text);
}

fn number(number: impl itoa::Integer, out: &mut Output<'_>) {
    out.put(b" ");
    out.put_number(number);
}
