//! Python's pylibmc.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, without_sizes};

const PYLIBMC: Case<'_> = Case { peer: "pylibmc", preset: "pylibmc", ..Case::PLAIN };

#[test]
fn reads_its_values() {
    PYLIBMC.reads_its_values(|value| match value {
        Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Pickle),
        _ => only_unsized(value),
    });
}

#[test]
fn its_reads_of_our_values() {
    PYLIBMC.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        // What it makes of its own.
        Value::Bool(yes) => Arrives::As(Value::Int((*yes).into())),
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values() {
    Case { options: &[("compress_above", "1000")], ..PYLIBMC }.compressed_values();
}

#[test]
fn counters() {
    PYLIBMC.counters(&Value::Int(40));
}

#[test]
fn same_servers_with_a_prefix() {
    Case { options: &[("prefix", "site:")], prefix: "site:", ..PYLIBMC }.same_servers();
}

#[test]
fn same_servers() {
    PYLIBMC.same_servers();
}

#[test]
fn same_servers_ketama() {
    Case { options: &[("ketama", "1")], preset: "pylibmc_consistent", ..PYLIBMC }.same_servers();
}

#[test]
fn same_servers_consistent() {
    let options = &[("distribution", "consistent")];
    Case { options, preset: "pylibmc_consistent", ..PYLIBMC }.same_servers();
}

#[test]
fn same_servers_ketama_weighted() {
    let options = &[("ketama_weighted", "1")];
    Case { options, preset: "pylibmc_ketama", weighted: true, ..PYLIBMC }.same_servers();
}
