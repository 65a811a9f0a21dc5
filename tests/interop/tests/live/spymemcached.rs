//! Java's spymemcached.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::dice::Letters;
use mcpool_interop_tests::value::Value;

use crate::cases::{Arrives, Case};

const SPY: Case<'_> = Case {
    peer: "spymemcached",
    options: &[],
    preset: "spymemcached",
    placement: None,
    prefix: "",
    letters: Letters::Unicode,
    weighted: false,
};

/// Values as Whalin's client has them.
const WHALIN: Case<'_> = Case { options: &[("transcoder", "whalin")], preset: "whalin", ..SPY };

#[test]
fn reads_its_values() {
    SPY.reads_its_values(|value| match value {
        Value::Null | Value::Big(_) | Value::Json(_) | Value::String(_) => Arrives::Unknown,
        Value::I16(_) | Value::Char(_) | Value::Object(_) => {
            Arrives::Unreadable(DecodeErrorKind::JavaObject)
        }
        _ => Arrives::Same,
    });
}

#[test]
fn its_reads_of_our_values() {
    SPY.its_reads_of_our_values(|value| match value {
        Value::Date(_) | Value::Object(_) => Arrives::Unknown,
        Value::Big(_) => Arrives::Refused,
        Value::Null => Arrives::Lost,
        Value::I16(number) => Arrives::As(Value::I32((*number).into())),
        Value::Char(letter) => Arrives::As(Value::Text((*letter).into())),
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        _ => Arrives::Same,
    });
}

#[test]
fn reads_its_values_of_the_whalin_transcoder() {
    WHALIN.reads_its_values(|value| match value {
        Value::Null | Value::Big(_) | Value::Json(_) | Value::String(_) => Arrives::Unknown,
        Value::Object(_) => Arrives::Unreadable(DecodeErrorKind::JavaObject),
        _ => Arrives::Same,
    });
}

#[test]
fn its_reads_of_our_values_with_the_whalin_transcoder() {
    WHALIN.its_reads_of_our_values(|value| match value {
        Value::Date(_) | Value::Object(_) => Arrives::Unknown,
        Value::Big(_) => Arrives::Refused,
        Value::Null | Value::Json(_) => Arrives::Lost,
        _ => Arrives::Same,
    });
}

#[test]
fn compressed_values() {
    SPY.compressed_values();
}

#[test]
fn compressed_values_with_the_whalin_transcoder() {
    WHALIN.compressed_values();
}

#[test]
fn counters() {
    SPY.counters(&Value::Text("40".to_owned()));
}

#[test]
fn same_servers() {
    SPY.same_servers();
}

#[test]
fn same_servers_by_crc() {
    Case { options: &[("hash", "CRC_HASH")], placement: Some("spymemcached_array+crc"), ..SPY }
        .same_servers();
}

#[test]
fn same_servers_ketama() {
    let options = &[("locator", "ketama"), ("hash", "KETAMA_HASH")];
    Case { options, preset: "spymemcached_ketama", ..SPY }.same_servers();
}

#[test]
fn same_servers_ketama_weighted() {
    let options = &[("locator", "weighted")];
    Case { options, preset: "spymemcached_ketama", weighted: true, ..SPY }.same_servers();
}

#[test]
fn same_servers_ketama_of_libmemcached() {
    let options = &[("locator", "libmemcached")];
    Case { options, placement: Some("ketama"), weighted: true, ..SPY }.same_servers();
}
