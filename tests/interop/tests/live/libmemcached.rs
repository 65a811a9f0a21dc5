//! libmemcached, and with it all that stand on it.

use mcpool_interop_tests::dice::Letters;
use mcpool_interop_tests::value::Value;

use crate::cases::{Arrives, Case};

const DEFAULT: Case = Case {
    peer: "libmemcached",
    options: &[],
    preset: "libmemcached",
    placement: None,
    prefix: "",
    letters: Letters::Unicode,
    weighted: false,
};

const KETAMA_WEIGHTED: Case = Case {
    options: &[("ketama_weighted", "1")],
    placement: Some("ketama"),
    weighted: true,
    ..DEFAULT
};

/// Its values are bytes.
fn stored(value: &Value) -> Arrives {
    match value {
        Value::Text(_) | Value::Bytes(_) => Arrives::Same,
        _ => Arrives::Unknown,
    }
}

#[test]
fn reads_its_values() {
    DEFAULT.reads_its_values(stored);
}

#[test]
fn its_reads_of_our_values() {
    DEFAULT.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        Value::Int(number) => Arrives::As(Value::Text(number.to_string())),
        Value::Bool(yes) => Arrives::As(Value::Text(yes.to_string())),
        _ => stored(value),
    });
}

#[test]
fn counters() {
    DEFAULT.counters(&Value::Text("40".to_owned()));
}

#[test]
fn same_servers_ketama_weighted() {
    KETAMA_WEIGHTED.same_servers();
}

#[test]
fn same_servers_ketama_weighted_for_very_many_keys() {
    KETAMA_WEIGHTED.same_servers_for(100_000);
}
