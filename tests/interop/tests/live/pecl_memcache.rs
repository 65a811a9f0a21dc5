//! PHP's older memcache.

use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, rounded, without_sizes};

const PECL: Case<'_> = Case {
    peer: "pecl_memcache",
    options: &[("compress_threshold", "0")],
    preset: "pecl_memcache",
    weighted: true,
    ..Case::PLAIN
};

#[test]
fn reads_its_values() {
    PECL.reads_its_values(|value| match value {
        Value::Big(_) => Arrives::Unknown,
        // It writes 14 digits.
        Value::Float(number) => Arrives::As(Value::Float(rounded(*number, 14))),
        _ => only_unsized(value),
    });
}

#[test]
fn its_reads_of_our_values() {
    PECL.its_reads_of_our_values(|value| match value {
        Value::Big(_) => Arrives::Refused,
        // It reads none.
        Value::Float(number) if !number.is_finite() => Arrives::Refused,
        Value::F32(number) if !number.is_finite() => Arrives::Refused,
        // What it makes of its own.
        Value::Null => Arrives::As(Value::Bool(false)),
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values() {
    Case { options: &[], ..PECL }.compressed_values();
}

#[test]
fn counters() {
    PECL.counters(&Value::Int(40));
}

#[test]
fn same_servers() {
    PECL.same_servers();
}

#[test]
fn same_servers_with_a_prefix() {
    Case { options: &[("prefix_static_key", "site:")], prefix: "site:", ..PECL }.same_servers();
}

#[test]
fn same_servers_consistent_fnv() {
    let options = &[("hash_function", "fnv")];
    Case { options, placement: Some("pecl_consistent+fnv1a_32"), ..PECL }.same_servers();
}

#[test]
fn same_servers_standard() {
    let options = &[("hash_strategy", "standard")];
    Case { options, preset: "pecl_memcache_standard", ..PECL }.same_servers();
}

#[test]
fn same_servers_standard_fnv() {
    let options = &[("hash_strategy", "standard"), ("hash_function", "fnv")];
    Case {
        options,
        preset: "pecl_memcache_standard",
        placement: Some("pecl_standard+fnv1a_32"),
        ..PECL
    }
    .same_servers();
}
