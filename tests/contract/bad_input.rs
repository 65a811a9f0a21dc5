//! What bad input gets: a typed error that names the culprit, nothing sent, no connection lost.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::time::Duration;

use mcpool::{Client, Codec, Error, ErrorKind, Key, KeyError, Ttl};
use serde::Serialize;

use crate::stand::Stand;
use crate::support::calls::{MANY, SINGLE};

pub(crate) fn bad_keys_are_refused_by_every_call_before_anything_is_sent(stand: &Stand) {
    let client = stand.client();
    client.set("victim", "alive", Ttl::NEVER).unwrap();
    let token = client.gets::<String>("victim").unwrap().unwrap().cas;
    let sent = client.status().servers[0].exchanges;
    let long = "k".repeat(251);
    for (key, culprit) in [
        ("", "empty"),
        ("a b", "0x20 at position 1"),
        ("tab\t", "0x09 at position 3"),
        ("x\r\ndelete victim", "0x0d at position 1"),
        ("line\n", "0x0a at position 4"),
        ("nul\0", "0x00 at position 3"),
        ("del\x7f", "0x7f at position 3"),
        (&long, "251 bytes"),
    ] {
        let refused = |name: &str, error: &Error| {
            assert_eq!(error.kind(), ErrorKind::InvalidKey, "{name} {key:?}: {error}");
            assert!(error.to_string().contains(culprit), "{name} {key:?}: {error}");
            assert_eq!(error.key(), Some(key.as_bytes()), "{name}");
            assert_eq!(error.server(), None, "{name}");
            assert!(!error.may_retry() && !error.may_have_been_applied(), "{name}");
            assert!(error.source().unwrap().is::<KeyError>(), "{name}");
        };
        for call in SINGLE {
            refused(call.name, &(call.run)(&client, key, &token).expect_err(call.name));
        }
        for call in &MANY[..4] {
            let errors = (call.run)(&client, &[key.to_owned()]);
            assert_eq!(errors.len(), 1, "{}", call.name);
            refused(call.name, &errors[0]);
        }
        let error = client.server_for(key).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey, "{error}");
        let mut buffer = b"old".to_vec();
        client.get_raw_into(key, &mut buffer).unwrap_err();
        assert!(buffer.is_empty(), "an error leaves no old value in the buffer");
    }
    assert_eq!(client.status().servers[0].exchanges, sent, "nothing went out");
    assert_eq!(client.get::<String>("victim").unwrap().as_deref(), Some("alive"));
}

pub(crate) fn a_key_may_be_legal_alone_and_too_long_with_its_prefix(stand: &Stand) {
    let prefixed = stand.client_with(|settings| settings.key_prefix("app:"));
    let handle = stand.client().with_prefix("app:").unwrap();
    let (fits, long) = ("k".repeat(246), "k".repeat(247));
    for client in [&prefixed, &handle] {
        client.set(&fits, "v", Ttl::NEVER).unwrap();
        for error in [
            client.set(&long, "v", Ttl::NEVER).unwrap_err(),
            client.get::<String>(Key::routed(long.as_str(), "k")).unwrap_err(),
            client.get_many::<String, _>([&long]).into_result().unwrap_err(),
            client.set_many([(&long, "v")], Ttl::NEVER).into_result().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidKey);
            assert!(error.to_string().contains("247 bytes, 251 as it would be sent"), "{error}");
        }
        let found = client.get_many::<String, _>([&fits, &long]);
        assert_eq!(found.get(&fits).map(String::as_str), Some("v"), "it fails alone");
    }
    let sanitized = stand.client_with(|settings| settings.sanitize_keys(true));
    sanitized.set("ü".repeat(41), "v", Ttl::NEVER).unwrap();
    let error = sanitized.set("ü".repeat(42), "v", Ttl::NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey, "six bytes each on the wire: {error}");
}

/// A value that a codec refuses must not be stored, and the next call goes on.
fn not_encoded(client: &Client, value: &impl Serialize) {
    let before = client.status().servers[0].exchanges;
    for error in [
        client.set("k", value, Ttl::NEVER).unwrap_err(),
        client.add("k", value, Ttl::NEVER).unwrap_err(),
        client.set_many([("k", value)], Ttl::NEVER).into_result().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Encode, "{error}");
        assert_eq!(error.key(), Some(&b"k"[..]), "{error}");
        assert!(!error.may_retry() && !error.may_have_been_applied());
        assert!(error.source().unwrap().is::<mcpool::EncodeError>());
    }
    assert_eq!(client.status().servers[0].exchanges, before, "nothing went out");
    assert_eq!(client.get::<String>("k").unwrap(), None);
}

pub(crate) fn what_json_cannot_hold_is_a_typed_error(stand: &Stand) {
    let client = stand.client();
    not_encoded(&client, &f64::NAN);
    not_encoded(&client, &f32::NEG_INFINITY);
    not_encoded(&client, &vec![1.0, f64::INFINITY]);
    not_encoded(&client, &BTreeMap::from([(vec![1], 1)]));
    not_encoded(&client, &BTreeMap::from([((1, 2), 1)]));
    not_encoded(&client, &Some(BTreeMap::from([(None::<u8>, 1)])));
    let keyed_by_numbers = BTreeMap::from([(7_u8, "seven".to_owned())]);
    client.set("k", &keyed_by_numbers, Ttl::NEVER).unwrap();
    assert_eq!(client.get("k").unwrap(), Some(keyed_by_numbers));
    client.set("wide", &i128::MIN, Ttl::NEVER).unwrap();
    assert_eq!(client.get("wide").unwrap(), Some(i128::MIN), "JSON holds any whole number");
}

pub(crate) fn what_the_other_codecs_cannot_hold_is_a_typed_error(stand: &Stand) {
    let whalin = stand.client_with(|settings| settings.codec(Codec::Whalin));
    not_encoded(&whalin, &u64::MAX);
    not_encoded(&whalin, &vec![f64::NAN]);
    not_encoded(&whalin, &BTreeMap::from([(vec![1], 1)]));
    let raw = stand.client_with(|settings| settings.codec(Codec::Raw));
    not_encoded(&raw, &5);
    not_encoded(&raw, &None::<u8>);
    not_encoded(&raw, &BTreeMap::from([("a", 1)]));
}

pub(crate) fn an_expiry_beyond_memcached_is_refused_by_every_call_that_takes_one(stand: &Stand) {
    let client = stand.client();
    for key in ["k", "n"] {
        client.set(key, &1, Ttl::NEVER).unwrap();
    }
    let token = client.gets::<u8>("k").unwrap().unwrap().cas;
    let sent = client.status().servers[0].exchanges;
    let century = Duration::from_secs(100 * 365 * 86_400);
    for error in [
        client.set("k", "v", century).unwrap_err(),
        client.set_raw("k", "v", 0, century).unwrap_err(),
        client.set_counter("k", 2, century).unwrap_err(),
        client.add("new", "v", Duration::MAX).unwrap_err(),
        client.replace("k", "v", century).unwrap_err(),
        client.cas("k", "v", century, &token).unwrap_err(),
        client.touch("k", century).unwrap_err(),
        client.get_and_touch::<u8>("k", century).unwrap_err(),
        client.incr_or_init("n", 1, 1, century).unwrap_err(),
        client.decr_or_init("new", 1, 1, century).unwrap_err(),
        client.set_many([("k", "v")], century).into_result().unwrap_err(),
        client.flush_all(century).into_result().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidTtl, "{error}");
        assert!(error.to_string().contains("2147483647"), "the limit is named: {error}");
        assert!(!error.may_retry() && !error.may_have_been_applied());
    }
    assert_eq!(client.status().servers[0].exchanges, sent, "nothing went out");
    assert_eq!(client.get::<u8>("k").unwrap(), Some(1));
    assert_eq!(client.get::<u8>("n").unwrap(), Some(1));
    assert!(!client.contains_key("new").unwrap());
}

pub(crate) fn a_value_over_the_clients_limit_is_refused_before_anything_is_sent(stand: &Stand) {
    let client = stand.client_with(|settings| settings.max_value_bytes(100));
    client.set("k", &"v".repeat(100), Ttl::NEVER).unwrap();
    let (token, long) = (client.gets::<String>("k").unwrap().unwrap().cas, "v".repeat(101));
    for error in [
        client.set("k", &long, Ttl::NEVER).unwrap_err(),
        client.add("new", &long, Ttl::NEVER).unwrap_err(),
        client.replace("k", &long, Ttl::NEVER).unwrap_err(),
        client.cas("k", &long, Ttl::NEVER, &token).unwrap_err(),
        client.set_raw("k", &long, 0, Ttl::NEVER).unwrap_err(),
        client.append("k", &long).unwrap_err(),
        client.prepend("k", &long).unwrap_err(),
        client.set_many([("k", &long)], Ttl::NEVER).into_result().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
        assert!(error.to_string().contains("101 bytes, `max_value_bytes` allows 100"), "{error}");
    }
    assert_eq!(client.status().servers[0].exchanges, 2);
    assert_eq!(client.get::<String>("k").unwrap(), Some("v".repeat(100)));
}

pub(crate) fn a_value_over_the_clients_limit_that_someone_else_stored_is_not_read(stand: &Stand) {
    stand.client().set("big", &"v".repeat(101), Ttl::NEVER).unwrap();
    // It is left unread, so its connection is closed.
    let client = stand.builder().max_value_bytes(100).build().unwrap();
    let error = client.get::<String>("big").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
    let status = client.status();
    assert_eq!((status.servers[0].connections, status.servers[0].idle), (0, 0));
    client.set("k", "v", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("v"));
}

pub(crate) fn a_value_over_the_servers_limit_fails_alone_and_costs_no_connection(stand: &Stand) {
    let client = stand.client();
    let huge = "x".repeat(2 << 20);
    client.set("k", "old", Ttl::NEVER).unwrap();
    let token = client.gets::<String>("k").unwrap().unwrap().cas;
    for error in [
        client.set("k", &huge, Ttl::NEVER).unwrap_err(),
        client.add("new", &huge, Ttl::NEVER).unwrap_err(),
        client.replace("k", &huge, Ttl::NEVER).unwrap_err(),
        client.cas("k", &huge, Ttl::NEVER, &token).unwrap_err(),
        client.set_raw("k", &huge, 0, Ttl::NEVER).unwrap_err(),
        client.append("k", &huge).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
        assert_eq!(error.server(), Some(stand.address()), "{error}");
        assert!(!error.may_retry() && !error.may_have_been_applied(), "{error}");
    }
    client.set("k", "small", Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("small"));
    assert!(!client.contains_key("new").unwrap());
}

pub(crate) fn the_servers_limit_is_the_one_it_was_started_with(stand: &Stand) {
    let large = stand.another_with_items_up_to(3);
    let client = large.client();
    let value = "x".repeat(2 << 20);
    client.set("k", &value, Ttl::NEVER).unwrap();
    assert!(client.get::<String>("k").unwrap().as_ref() == Some(&value));
    let error = client.set("k", &"x".repeat(3 << 20), Ttl::NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
    large.nothing_is_lost();
}

pub(crate) fn clean_refusals_cost_no_connection(stand: &Stand) {
    let client = stand.client();
    client.set("text", "abc", Ttl::NEVER).unwrap();
    for _ in 0..20 {
        assert!(client.incr("text", 1).is_err());
        assert!(client.decr("text", 1).is_err());
        assert!(client.set("huge", &vec![0_u8; 2 << 20], Ttl::NEVER).is_err());
        assert!(client.get::<u32>("text").is_err());
        assert!(client.get::<u32>("bad key").is_err());
        assert!(client.stats_of("nonsense").into_result().is_err());
        assert_eq!(client.get::<u32>("none").unwrap(), None);
    }
    let server = &client.status().servers[0];
    assert_eq!((server.dials, server.connections, server.idle), (1, 1, 1));
    assert_eq!(server.failures, 0);
}
