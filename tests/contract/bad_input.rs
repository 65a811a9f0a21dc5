//! What bad input gets: a typed error that names the culprit, nothing sent, no connection lost.

use std::collections::BTreeMap;
use std::time::Duration;

use mcpool::{ErrorKind, KeyError, Ttl};

use crate::stand::Stand;

pub(crate) fn bad_keys_are_refused_before_anything_is_sent(stand: &Stand) {
    let client = stand.client();
    client.set("victim", "alive", Ttl::NEVER).unwrap();
    let sent = client.status().servers[0].exchanges;
    let long = "k".repeat(251);
    for key in ["", "a b", "tab\t", "x\r\ndelete victim", "nul\0", "del\x7f", &long] {
        let errors = [
            client.get::<String>(key).unwrap_err(),
            client.set(key, "v", Ttl::NEVER).unwrap_err(),
            client.delete(key).unwrap_err(),
            client.incr(key, 1).unwrap_err(),
            client.touch(key, Ttl::NEVER).unwrap_err(),
            client.append(key, "v").unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::InvalidKey, "{key:?}: {error}");
            assert!(!error.may_retry() && !error.may_have_been_applied());
            let source = std::error::Error::source(&error).unwrap();
            assert!(source.is::<KeyError>(), "{error}");
        }
    }
    assert_eq!(client.status().servers[0].exchanges, sent, "nothing went out");
    assert_eq!(client.get::<String>("victim").unwrap().as_deref(), Some("alive"));
}

pub(crate) fn a_key_may_be_legal_alone_and_too_long_with_its_prefix(stand: &Stand) {
    let client = stand.builder().key_prefix("app:").build().unwrap();
    client.set("k".repeat(246), "v", Ttl::NEVER).unwrap();
    let error = client.set("k".repeat(247), "v", Ttl::NEVER).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert!(error.to_string().contains("251 bytes with its prefix"), "{error}");
}

pub(crate) fn what_json_cannot_hold_is_a_typed_error(stand: &Stand) {
    let client = stand.client();
    let keyed_by_lists = BTreeMap::from([(vec![1], 1)]);
    for error in [
        client.set("k", &f64::NAN, Ttl::NEVER).unwrap_err(),
        client.set("k", &vec![1.0, f64::INFINITY], Ttl::NEVER).unwrap_err(),
        client.set("k", &keyed_by_lists, Ttl::NEVER).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Encode, "{error}");
        assert!(!error.may_have_been_applied());
    }
    assert_eq!(client.status().servers[0].dials, 0, "nothing went out");
    client.set("k", &BTreeMap::from([(7_u8, "seven")]), Ttl::NEVER).unwrap();
    assert_eq!(client.get("k").unwrap(), Some(BTreeMap::from([(7_u8, "seven".to_owned())])));
}

pub(crate) fn an_expiry_beyond_memcached_is_a_typed_error(stand: &Stand) {
    let client = stand.client();
    let century = Duration::from_secs(100 * 365 * 86_400);
    for error in [
        client.set("k", "v", century).unwrap_err(),
        client.touch("k", century).unwrap_err(),
        client.add("k", "v", Duration::MAX).unwrap_err(),
        client.set_many([("k", "v")], century).into_result().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidTtl, "{error}");
    }
    assert_eq!(client.get::<String>("k").unwrap(), None);
}

pub(crate) fn a_value_over_the_clients_limit_is_refused_before_anything_is_sent(stand: &Stand) {
    let client = stand.builder().max_value_bytes(100).build().unwrap();
    client.set("k", &"v".repeat(100), Ttl::NEVER).unwrap();
    for error in [
        client.set("k", &"v".repeat(101), Ttl::NEVER).unwrap_err(),
        client.set_raw("k", vec![0; 101], 0, Ttl::NEVER).unwrap_err(),
        client.append("k", vec![0; 101]).unwrap_err(),
        client.set_many([("k", "v".repeat(101))], Ttl::NEVER).into_result().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
        assert!(error.to_string().contains("max_value_bytes"), "{error}");
    }
    assert_eq!(client.status().servers[0].exchanges, 1);
    // One that someone else stored is not read either.
    stand.client().set("big", &"v".repeat(101), Ttl::NEVER).unwrap();
    assert_eq!(client.get::<String>("big").unwrap_err().kind(), ErrorKind::ValueTooLarge);
    assert!(client.contains_key("k").unwrap());
}

pub(crate) fn clean_refusals_cost_no_connection(stand: &Stand) {
    let client = stand.client();
    client.set("text", "abc", Ttl::NEVER).unwrap();
    for _ in 0..20 {
        assert!(client.incr("text", 1).is_err());
        assert!(client.set("huge", &vec![0_u8; 2 << 20], Ttl::NEVER).is_err());
        assert!(client.get::<u32>("text").is_err());
        assert!(client.get::<u32>("bad key").is_err());
    }
    let server = &client.status().servers[0];
    assert_eq!((server.dials, server.connections, server.idle), (1, 1, 1));
}
