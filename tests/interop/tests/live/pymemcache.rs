//! Python's pymemcache.

use mcpool::{Codec, DecodeErrorKind};
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, without_sizes};

const PICKLE: Case<'_> = Case {
    peer: "pymemcache",
    options: &[("serde", "pickle")],
    preset: "pymemcache",
    ..Case::PLAIN
};

const HASHED: Case<'_> = Case { options: &[("hash", "1"), ("serde", "pickle")], ..PICKLE };

#[test]
fn reads_its_values() {
    PICKLE.reads_its_values(|value| match value {
        Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Pickle),
        _ => only_unsized(value),
    });
}

#[test]
fn reads_its_values_without_serde() {
    Case { options: &[], codec: Some(Codec::Gomemcache), ..PICKLE }.reads_its_values(|value| {
        match value {
            Value::Text(text) if !text.is_ascii() => Arrives::Refused,
            Value::Text(_) | Value::Bytes(_) | Value::Int(_) | Value::Big(_) => Arrives::Same,
            _ => Arrives::Unknown,
        }
    });
}

#[test]
fn its_reads_of_our_values() {
    PICKLE.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values() {
    Case { options: &[("serde", "compressed")], ..PICKLE }.compressed_values();
}

#[test]
fn counters() {
    PICKLE.counters(&Value::Int(40));
}

#[test]
fn same_servers() {
    HASHED.same_servers();
}

#[test]
fn same_servers_with_a_prefix() {
    let options = &[("hash", "1"), ("serde", "pickle"), ("prefix", "site:")];
    Case { options, prefix: "site:", ..HASHED }.same_servers();
}

#[test]
fn same_servers_for_very_many_keys() {
    HASHED.same_servers_for(100_000);
}
