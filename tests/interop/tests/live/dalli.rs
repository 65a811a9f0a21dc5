//! Ruby's Dalli.

use mcpool::{Codec, DecodeErrorKind};
use mcpool_interop_tests::dice::Letters;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::{Arrives, only_unsized, without_sizes};

const MARSHAL: Case<'_> = Case {
    peer: "dalli",
    options: &[("compress", "false")],
    preset: "dalli",
    weighted: true,
    ..Case::PLAIN
};

const RAW: Case<'_> = Case { options: &[("raw", "true"), ("compress", "false")], ..MARSHAL };

const JSON: Case<'_> = Case {
    options: &[("serializer", "json"), ("compress", "false")],
    codec: Some(Codec::DalliJson),
    ..MARSHAL
};

#[test]
fn reads_its_values() {
    MARSHAL.reads_its_values(|value| match value {
        Value::Json(_) => Arrives::Unreadable(DecodeErrorKind::Marshal),
        _ => only_unsized(value),
    });
}

#[test]
fn reads_its_raw_values() {
    RAW.reads_its_values(|value| match value {
        Value::Null | Value::Json(_) => Arrives::Unknown,
        _ => only_unsized(value),
    });
}

#[test]
fn reads_its_values_in_json() {
    JSON.reads_its_values(|value| match value {
        // JSON has none.
        Value::Bytes(_) => Arrives::Unknown,
        _ => only_unsized(value),
    });
}

#[test]
fn its_reads_of_our_values() {
    MARSHAL.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        _ => without_sizes(value),
    });
}

#[test]
fn its_reads_of_our_values_in_json() {
    JSON.its_reads_of_our_values(|value| match value {
        Value::Float(number) if !number.is_finite() => Arrives::Refused,
        Value::F32(number) if !number.is_finite() => Arrives::Refused,
        _ => without_sizes(value),
    });
}

#[test]
fn compressed_values() {
    Case { options: &[], ..MARSHAL }.compressed_values();
}

#[test]
fn compressed_values_in_json() {
    Case { options: &[("serializer", "json")], ..JSON }.compressed_values();
}

#[test]
fn counters() {
    RAW.counters(&Value::Text("40".to_owned()));
}

#[test]
fn same_servers() {
    RAW.same_servers();
}

#[test]
fn same_servers_with_a_namespace() {
    let options = &[("raw", "true"), ("compress", "false"), ("namespace", "site")];
    Case { options, prefix: "site:", ..RAW }.same_servers();
}

#[test]
fn long_keys() {
    Case { letters: Letters::Ascii, ..RAW }.long_keys();
}

#[test]
fn long_keys_in_a_namespace() {
    let options = &[("raw", "true"), ("compress", "false"), ("namespace", "site")];
    Case { options, prefix: "site:", letters: Letters::Ascii, ..RAW }.long_keys();
}

#[test]
fn same_servers_for_very_many_keys() {
    RAW.same_servers_for(100_000);
}
