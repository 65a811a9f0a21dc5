//! Python's python-binary-memcached.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, without_sizes};

const BINARY: Case<'_> =
    Case { peer: "bmemcached", preset: "python_binary_memcached", ..Case::PLAIN };

#[test]
fn reads_its_values() {
    BINARY.reads_its_values(|value| match value {
        Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Pickle),
        _ => only_unsized(value),
    });
}

#[test]
fn its_reads_of_our_values() {
    BINARY.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values() {
    BINARY.compressed_values();
}

#[test]
fn counters() {
    BINARY.counters(&Value::Int(40));
}

#[test]
fn same_servers() {
    BINARY.same_servers();
}

#[test]
fn same_servers_for_very_many_keys() {
    BINARY.same_servers_for(100_000);
}
