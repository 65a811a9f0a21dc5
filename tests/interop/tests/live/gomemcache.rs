//! Go's gomemcache.

use mcpool_interop_tests::dice::Letters;
use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::Arrives;

const GO: Case<'_> = Case {
    peer: "gomemcache",
    preset: "gomemcache",
    // It refuses all others.
    letters: Letters::Ascii,
    ..Case::PLAIN
};

/// Its values are bytes.
#[test]
fn reads_its_values() {
    GO.reads_its_values(|value| match value {
        Value::Text(_) | Value::Bytes(_) => Arrives::Same,
        _ => Arrives::Unknown,
    });
}

#[test]
fn its_reads_of_our_values() {
    GO.its_reads_of_our_values(|value| match value {
        Value::Json(json) => Arrives::As(Value::Text(json.to_string())),
        Value::Int(number) => Arrives::As(Value::Text(number.to_string())),
        Value::Bool(yes) => Arrives::As(Value::Text(yes.to_string())),
        Value::Text(_) | Value::Bytes(_) => Arrives::Same,
        _ => Arrives::Unknown,
    });
}

#[test]
fn counters() {
    GO.counters(&Value::Text("40".to_owned()));
}

#[test]
fn same_servers() {
    GO.same_servers();
}

#[test]
fn same_servers_for_very_many_keys() {
    GO.same_servers_for(100_000);
}
