//! libmemcached, and with it all that stand on it.

use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::values::Arrives;

const DEFAULT: Case<'_> = Case { peer: "libmemcached", preset: "libmemcached", ..Case::PLAIN };

const CONSISTENT: Case<'_> = Case {
    options: &[("distribution", "consistent")],
    preset: "libmemcached_consistent",
    ..DEFAULT
};

const KETAMA_WEIGHTED: Case<'_> = Case {
    options: &[("ketama_weighted", "1")],
    preset: "libmemcached_ketama",
    weighted: true,
    ..DEFAULT
};

/// Its names of the hashes that it has, and ours.
const HASHES: [(&str, &str); 10] = [
    ("default", "one_at_a_time"),
    ("md5", "md5"),
    ("crc", "crc"),
    ("fnv1_64", "fnv1_64"),
    ("fnv1a_64", "fnv1a_64"),
    ("fnv1_32", "fnv1_32"),
    ("fnv1a_32", "fnv1a_32"),
    ("murmur", "murmur"),
    ("murmur3", "murmur3"),
    ("jenkins", "jenkins"),
];

/// The same servers as it computes them, with each of its hashes.
fn with_each_hash(behavior: (&str, &str), placement: &str, weighted: bool) {
    for (theirs, ours) in HASHES {
        let options = &[behavior, ("hash", theirs)];
        let placement = Some(&*format!("{placement}+{ours}"));
        Case { options, placement, weighted, ..DEFAULT }.same_servers_for(5000);
    }
}

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
fn same_servers() {
    DEFAULT.same_servers();
}

#[test]
fn same_servers_with_each_hash() {
    with_each_hash(("distribution", "modula"), "libmemcached_modula", false);
}

#[test]
fn same_servers_for_very_many_keys() {
    DEFAULT.same_servers_for(100_000);
}

#[test]
fn same_servers_consistent() {
    CONSISTENT.same_servers();
}

#[test]
fn same_servers_consistent_with_weights() {
    Case { weighted: true, ..CONSISTENT }.same_servers();
}

#[test]
fn same_servers_consistent_with_each_hash() {
    with_each_hash(("distribution", "consistent"), "libmemcached_consistent", false);
}

#[test]
fn same_servers_consistent_with_a_hash_set_late() {
    let options = &[("distribution", "consistent"), ("late_hash", "md5")];
    Case { options, placement: Some("libmemcached_late_hash+md5"), ..CONSISTENT }.same_servers();
}

#[test]
fn same_servers_consistent_for_very_many_keys() {
    CONSISTENT.same_servers_for(100_000);
}

#[test]
fn same_servers_ketama_weighted() {
    KETAMA_WEIGHTED.same_servers();
}

#[test]
fn same_servers_ketama_weighted_with_each_hash() {
    with_each_hash(("ketama_weighted", "1"), "ketama", true);
}

#[test]
fn same_servers_ketama_weighted_for_very_many_keys() {
    KETAMA_WEIGHTED.same_servers_for(100_000);
}

#[test]
fn same_servers_as_spymemcached() {
    let options = &[("distribution", "spy"), ("hash", "md5")];
    Case { options, placement: Some("libmemcached_consistent+md5+slashed"), ..DEFAULT }
        .same_servers();
}

#[test]
fn same_servers_with_a_prefix_that_counts() {
    let options = &[("hash_with_prefix_key", "1"), ("prefix", "site:")];
    Case { options, prefix: "site:", hash_prefix: Some(true), ..DEFAULT }.same_servers();
}

#[test]
fn same_servers_with_a_prefix() {
    Case { options: &[("prefix", "site:")], prefix: "site:", ..DEFAULT }.same_servers();
}
