//! Java's spymemcached.

use mcpool::DecodeErrorKind;
use mcpool_interop_tests::value::Value;

use crate::case::{Case, Host};
use crate::values::Arrives;

const SPY: Case<'_> = Case { peer: "spymemcached", preset: "spymemcached", ..Case::PLAIN };

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
fn same_servers_ketama_with_host_names() {
    let options = &[("locator", "ketama"), ("hash", "KETAMA_HASH")];
    let host: Option<Host> = Some(("localhost", |port| format!("localhost/127.0.0.1:{port}")));
    Case { options, preset: "spymemcached_ketama", host, ..SPY }.same_servers();
}

#[test]
fn same_servers_ketama_weighted() {
    let options = &[("locator", "weighted")];
    Case { options, preset: "spymemcached_ketama", weighted: true, ..SPY }.same_servers();
}

#[test]
fn same_servers_ketama_of_libmemcached() {
    let options = &[("locator", "libmemcached")];
    // It looks up the host name of the IP address that it is told.
    let host: Option<Host> = Some(("127.0.0.1", |port| format!("localhost:{port}")));
    Case { options, placement: Some("ketama"), weighted: true, host, ..SPY }.same_servers();
}
