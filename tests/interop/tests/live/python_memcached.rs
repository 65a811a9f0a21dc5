//! Python's python-memcached.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, without_sizes};

const PYTHON: Case<'_> =
    Case { peer: "python_memcached", preset: "python_memcached", weighted: true, ..Case::PLAIN };

#[test]
fn reads_its_values() {
    PYTHON.reads_its_values(|value| match value {
        Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Pickle),
        _ => only_unsized(value),
    });
}

#[test]
fn its_reads_of_our_values() {
    PYTHON.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values() {
    Case { options: &[("compress_above", "1000")], ..PYTHON }.compressed_values();
}

#[test]
fn counters() {
    PYTHON.counters(&Value::Int(40));
}

#[test]
fn same_servers_with_a_prefix() {
    Case { options: &[("prefix", "site:")], prefix: "site:", ..PYTHON }.same_servers();
}

#[test]
fn same_servers() {
    PYTHON.same_servers();
}

#[test]
fn same_servers_for_very_many_keys() {
    // Without weights the keys whose hash is 0 show: its version 1.59 took 1 for it.
    Case { weighted: false, ..PYTHON }.same_servers_for(100_000);
}
