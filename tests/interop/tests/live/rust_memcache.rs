//! The Rust crate `memcache`.

use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::Arrives;

const RUST: Case<'_> = Case { peer: "rust_memcache", preset: "rust_memcache", ..Case::PLAIN };

#[test]
fn reads_its_values() {
    RUST.reads_its_values(|value| match value {
        Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => Arrives::Same,
        Value::Text(_) | Value::Bytes(_) => Arrives::Same,
        _ => Arrives::Unknown,
    });
}

#[test]
fn its_reads_of_our_values() {
    RUST.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        Value::Int(number) => Arrives::As(Value::Text(number.to_string())),
        Value::Bool(yes) => Arrives::As(Value::Text(yes.to_string())),
        Value::Text(_) | Value::Bytes(_) => Arrives::Same,
        _ => Arrives::Unknown,
    });
}

#[test]
fn counters() {
    RUST.counters(&Value::Int(40));
}

#[test]
fn same_servers() {
    RUST.same_servers();
}
