//! PHP's memcached.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::dice::Letters;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, without_sizes};

const PHP: Case<'_> = Case {
    peer: "php_memcached",
    options: &[("serializer", "serializer_php"), ("compression", "0")],
    preset: "php_memcached",
    // It refuses all others.
    letters: Letters::Ascii,
    ..Case::PLAIN
};

const KETAMA: Case<'_> = Case {
    options: &[("libketama_compatible", "1")],
    preset: "php_memcached_ketama",
    weighted: true,
    ..PHP
};

/// PHP's integers have 64 bits and a sign.
fn stored(value: &Value) -> Arrives {
    match value {
        Value::Big(_) => Arrives::Unknown,
        _ => only_unsized(value),
    }
}

#[test]
fn reads_its_values() {
    PHP.reads_its_values(stored);
}

#[test]
fn reads_its_values_in_json() {
    let options = &[("serializer", "serializer_json"), ("compression", "0")];
    Case { options, ..PHP }.reads_its_values(stored);
}

#[test]
fn says_that_its_values_are_igbinary() {
    let options = &[("serializer", "serializer_igbinary"), ("compression", "0")];
    Case { options, ..PHP }.reads_its_values(|value| match value {
        Value::Null | Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Igbinary),
        _ => stored(value),
    });
}

#[test]
fn says_that_its_values_are_message_pack() {
    let options = &[("serializer", "serializer_msgpack"), ("compression", "0")];
    Case { options, ..PHP }.reads_its_values(|value| match value {
        Value::Null | Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::MessagePack),
        _ => stored(value),
    });
}

#[test]
fn its_reads_of_our_values() {
    PHP.its_reads_of_our_values(|value| match value {
        Value::Big(_) => Arrives::Refused,
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values_zlib() {
    let options = &[("compression_type", "compression_zlib")];
    Case { options, ..PHP }.compressed_values();
}

/// Its default; ours stores zlib, which it reads as well.
#[test]
fn compressed_values_fastlz() {
    let options = &[("compression_type", "compression_fastlz")];
    Case { options, ..PHP }.compressed_values();
}

#[test]
fn counters() {
    PHP.counters(&Value::Int(40));
}

#[test]
fn same_servers() {
    PHP.same_servers();
}

#[test]
fn same_servers_for_very_many_keys() {
    PHP.same_servers_for(100_000);
}

#[test]
fn same_servers_with_a_prefix() {
    Case { options: &[("prefix_key", "site:")], prefix: "site:", ..PHP }.same_servers();
}

#[test]
fn same_servers_consistent() {
    let options = &[("distribution", "distribution_consistent")];
    Case { options, preset: "php_memcached_consistent", ..PHP }.same_servers();
}

#[test]
fn same_servers_ketama() {
    KETAMA.same_servers();
}

#[test]
fn same_servers_ketama_for_very_many_keys() {
    KETAMA.same_servers_for(100_000);
}

/// The site of the paper's recipe.
#[test]
fn same_servers_in_the_recipe() {
    let options = &[
        ("libketama_compatible", "1"),
        ("serializer", "serializer_json"),
        ("prefix_key", "site:"),
    ];
    Case { options, prefix: "site:", ..KETAMA }.same_servers();
}
