//! Perl's Cache::Memcached::Fast.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, rounded};

const PERL: Case<'_> =
    Case { peer: "perl_fast", preset: "perl_cache_memcached", weighted: true, ..Case::PLAIN };

/// What Perl stores: strings, and numbers that it writes as such.
pub(crate) fn stored(value: &Value) -> Arrives {
    match value {
        Value::Null | Value::Bool(_) | Value::Big(_) => Arrives::Unknown,
        // With 15 digits, and without a sign for zero.
        Value::Float(number) => match rounded(*number, 15) + 0.0 {
            beyond if beyond.is_infinite() && number.is_finite() => {
                Arrives::Unreadable(DecodeErrorKind::Mismatch)
            }
            rounded => Arrives::As(Value::Float(rounded)),
        },
        Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Storable),
        _ => only_unsized(value),
    }
}

/// What Perl makes of ours: strings.
pub(crate) fn seen(value: &Value) -> Arrives {
    match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        Value::Int(number) => Arrives::As(Value::Text(number.to_string())),
        Value::Bool(yes) => Arrives::As(Value::Text(u8::from(*yes).to_string())),
        Value::Text(_) | Value::Bytes(_) => Arrives::Same,
        _ => Arrives::Unknown,
    }
}

#[test]
fn reads_its_values() {
    PERL.reads_its_values(stored);
}

#[test]
fn its_reads_of_our_values() {
    PERL.its_reads_of_our_values(seen);
}

#[test]
fn compressed_values() {
    Case { options: &[("compress_threshold", "1000")], ..PERL }.compressed_values();
}

#[test]
fn counters() {
    PERL.counters(&Value::Text("40".to_owned()));
}

#[test]
fn same_servers() {
    PERL.same_servers();
}

#[test]
fn same_servers_with_a_namespace() {
    Case { options: &[("namespace", "site:")], prefix: "site:", ..PERL }.same_servers();
}
