//! Java's spymemcached.

use mcpool::{Codec, DecodeErrorKind};
use mcpool_interop_tests::peer::Peer;
use mcpool_interop_tests::value::Value;

use crate::case::{Case, Host};
use crate::values::Arrives;

const SPY: Case<'_> = Case { peer: "spymemcached", preset: "spymemcached", ..Case::PLAIN };

const KETAMA: Case<'_> = Case {
    options: &[("locator", "ketama"), ("hash", "KETAMA_HASH")],
    preset: "spymemcached_ketama",
    ..SPY
};

/// Values as Whalin's client has them.
const WHALIN: Case<'_> =
    Case { options: &[("transcoder", "whalin")], codec: Some(Codec::Whalin), ..SPY };

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
fn same_servers_for_very_many_keys() {
    SPY.same_servers_for(20_000);
}

#[test]
fn same_servers_ketama_for_very_many_keys() {
    KETAMA.same_servers_for(20_000);
}

#[test]
fn same_servers_by_each_hash() {
    let hashes = [
        ("CRC_HASH", "crc"),
        ("FNV1_64_HASH", "fnv1_64"),
        ("FNV1A_64_HASH", "fnv1a_64"),
        ("FNV1_32_HASH", "fnv1_32"),
        ("FNV1A_32_HASH", "fnv1a_32"),
        ("KETAMA_HASH", "md5"),
    ];
    let mut peer = Peer::start(SPY.peer);
    for (theirs, ours) in hashes {
        let (array, ring) =
            (format!("spymemcached_array+{ours}"), format!("spymemcached_ketama+{ours}"));
        for (locator, placement) in [("array", &*array), ("ketama", &*ring)] {
            let options = &[("locator", locator), ("hash", theirs)];
            Case { options, placement: Some(placement), ..SPY }.same_servers_by(&mut peer, 5000);
        }
    }
}

#[test]
fn same_servers_ketama() {
    KETAMA.same_servers();
}

#[test]
fn same_servers_ketama_with_host_names() {
    let host: Option<Host> = Some(("localhost", |port| format!("localhost/127.0.0.1:{port}")));
    Case { host, ..KETAMA }.same_servers();
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
